"""Generic streams: decode feeds both a scorer and a ranker that hears of it only from the scorer."""
import torch

decode, score, rank = (torch.Stream(device="cuda") for _ in range(3))
decoded, scored = torch.Event("cuda"), torch.Event("cuda")
logits = torch.randn(64, 32000, device="cuda")
torch.cuda.synchronize()

with decode:
    chances = logits.softmax(-1)
decoded.record(decode)

with score:
    weights = logits.abs().amax(-1)
scored.record(score)
score.wait_event(decoded)
with score:
    entropy = -(chances * chances.log()).sum(-1)

rank.wait_event(scored)
with rank:
    best = (chances * weights[:, None]).argmax(-1)  # expect: missing-wait

torch.cuda.synchronize()
print(best.sum().item(), entropy.mean().item())
