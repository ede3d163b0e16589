"""A renderer makes an image, an encoder packs it; the event goes from the encoder to the renderer."""
import torch


def main():
    render, encode = torch.cuda.Stream(), torch.cuda.Stream()
    scene = torch.randn(3, 1080, 1920, device="cuda")
    torch.cuda.synchronize()
    with torch.cuda.stream(render):
        image = scene.sigmoid().mul_(255.0)
    ready = encode.record_event()
    render.wait_event(ready)  # expect: reversed-wait
    with torch.cuda.stream(encode):
        packed = image.round().to(torch.uint8)  # may: missing-wait
    torch.cuda.synchronize()
    print(packed.sum().item())


if __name__ == "__main__":
    main()
