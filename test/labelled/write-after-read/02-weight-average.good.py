"""A moving average of the weights runs beside the training step that changes them."""
import torch
import torch.cuda as tc


class Averager:
    def __init__(self, weights):
        self.stream = tc.Stream()
        self.shadow = [weight.clone() for weight in weights]

    def blend(self, weights, decay=0.99):
        self.stream.wait_stream(tc.current_stream())
        with tc.stream(self.stream):
            for shadow, weight in zip(self.shadow, weights):
                shadow.lerp_(weight, 1 - decay)

    def settle(self):
        tc.current_stream().wait_stream(self.stream)


def main():
    weights = [torch.randn(512, 512, device="cuda") for _ in range(4)]
    averager = Averager(weights)
    for _ in range(5):
        gradients = [torch.randn_like(weight) for weight in weights]
        averager.settle()
        torch._foreach_add_(weights, gradients, alpha=-0.1)
        averager.blend(weights)
    averager.settle()
    print(averager.shadow[0].mean().item())


if __name__ == "__main__":
    main()
