"""No record_stream: each turn the allocating stream waits for the reader before it allocates again."""
import torch


def main():
    producer, consumer = torch.cuda.Stream(), torch.cuda.Stream()
    sums = []
    for turn in range(6):
        producer.wait_stream(consumer)
        with torch.cuda.stream(producer):
            block = torch.full((1 << 20,), float(turn), device="cuda")
        consumer.wait_stream(producer)
        with torch.cuda.stream(consumer):
            sums.append(block.sum())
        del block
    torch.cuda.synchronize()
    print([value.item() for value in sums])


if __name__ == "__main__":
    main()
