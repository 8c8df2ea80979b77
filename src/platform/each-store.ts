export interface Turns {
  signal?: AbortSignal | undefined
  /** So many stores at the same time. */
  lanes?: number
}

/**
 * Works for one store after the other, and answers how much was done for all of them. A fault of one
 * is thrown once the others had their turn: no store waits until another's is mended.
 */
export async function eachStore(
  stores: readonly { tenant_ref: string }[],
  work: (tenant: string) => Promise<number>,
  { signal, lanes = 1 }: Turns = {},
): Promise<number> {
  const waiting = stores.values()
  const faults: unknown[] = []
  let did = 0
  const lane = async () => {
    for (const { tenant_ref } of waiting) {
      if (signal?.aborted) return
      try {
        did += await work(tenant_ref)
      } catch (fault) {
        faults.push(fault)
      }
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  if (faults.length > 0) throw faults[0]
  return did
}
