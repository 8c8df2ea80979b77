/** Counts how many entries hold a buffer. Each answers by how much the room in use changes. */
export function createShares() {
  const holders = new Map<Buffer, number>()
  return {
    take(body: Buffer): number {
      const before = holders.get(body) ?? 0
      holders.set(body, before + 1)
      return before === 0 ? body.length : 0
    },
    release(body: Buffer): number {
      const before = holders.get(body) ?? 0
      if (before > 1) {
        holders.set(body, before - 1)
        return 0
      }
      holders.delete(body)
      return before === 1 ? body.length : 0
    },
    clear: () => holders.clear(),
  }
}
