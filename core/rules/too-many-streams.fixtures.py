#- case: a stream for each of many items
def spread(host):
    rows = host.cuda()
    lanes = [torch.cuda.Stream() for _ in range(40)]
            #^ too-many-streams: 40 streams are made here, but PyTorch has a pool of 32 per priority: from the 33rd on
            # | they are the same ones again
    return rows, lanes
#- good
def spread(host):
    rows = host.cuda()
    lanes = [torch.cuda.Stream() for _ in range(4)]
    return rows, lanes

#- case: one in each turn of a long loop
def spread(host):
    here = torch.cuda.current_stream()
    rows = host.cuda()
    for i in range(33):
        lane = torch.cuda.Stream()
             # ^ too-many-streams: 33 streams are made here
        lane.wait_stream(here)
    return rows
#- good
def spread(host):
    here = torch.cuda.current_stream()
    rows = host.cuda()
    lane = torch.cuda.Stream()
    for i in range(33):
        lane.wait_stream(here)
    return rows

#- case: as many as the pool has, and as many as the caller says
def spread(host, count):
    rows = host.cuda()
    lanes = [torch.cuda.Stream() for _ in range(32)]
    urgent = [torch.cuda.Stream(priority=-1) for _ in range(32)]
    more = [torch.cuda.Stream() for _ in range(count)]
    return rows, lanes, urgent, more

#- case: a loop whose end is not known
class Branches:
    def __init__(self):
        self.sides = []

    def many(self, host):
        rows = host.cuda()
        sides = []
        while len(sides) < 40:
            sides.append(torch.cuda.Stream())
                        #^ too-many-streams
        return rows
#- good
class Branches:
    def __init__(self):
        self.sides = []

    def run(self, build, groups):
        keys = {}
        for group in groups:
            keys.setdefault(group.key(), []).append(group)
        if len(keys) < 2:
            return build(groups)
        while len(self.sides) < len(keys):
            self.sides.append(torch.cuda.Stream())
        here = torch.cuda.current_stream()
        for side, part in zip(self.sides, keys.values()):
            side.wait_stream(here)
            with torch.cuda.stream(side):
                build(part)
            here.wait_stream(side)
