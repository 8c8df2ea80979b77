export interface Turns {
  signal?: AbortSignal | undefined
  /** So many at the same time. */
  lanes?: number
}

/**
 * Works for one store after the other, and answers how much was done for all of them. A fault of one
 * is thrown once the others had their turn: no store waits until another's is mended.
 */
export const eachStore = (
  stores: readonly { tenant_ref: string }[],
  work: (tenant: string) => Promise<number>,
  turns?: Turns,
): Promise<number> => eachOf(stores, ({ tenant_ref }) => work(tenant_ref), turns)

/** The same of whatever is due in one store: one that cannot be done keeps none of the others waiting. */
export async function eachOf<T>(
  due: readonly T[],
  work: (one: T) => Promise<number>,
  { signal, lanes = 1 }: Turns = {},
): Promise<number> {
  const waiting = due.values()
  const faults: unknown[] = []
  let did = 0
  const lane = async () => {
    for (const one of waiting) {
      if (signal?.aborted) return
      try {
        const done = await work(one)
        did += done
      } catch (fault) {
        faults.push(fault)
      }
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  if (faults.length > 0) throw faults[0]
  return did
}
