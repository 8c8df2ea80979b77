export interface ForEachOptions {
  signal?: AbortSignal | undefined
  /** How many calls of `work` run at the same time. */
  concurrency?: number
}

/**
 * Runs `work` for one store after another, and returns the sum of the results. An error of one store is thrown after
 * the others had their turn: no store waits until another's error is repaired.
 */
export const forEachStore = (
  stores: readonly { tenant_ref: string }[],
  work: (tenant: string) => Promise<number>,
  options?: ForEachOptions,
): Promise<number> => forEachDue(stores, ({ tenant_ref }) => work(tenant_ref), options)

/** Runs `work` like `forEachStore`, for the due rows of one store: a row that fails does not delay the others. */
export async function forEachDue<T>(
  due: readonly T[],
  work: (one: T) => Promise<number>,
  { signal, concurrency: lanes = 1 }: ForEachOptions = {},
): Promise<number> {
  const waiting = due.values()
  const errors: unknown[] = []
  let did = 0
  const worker = async () => {
    for (const one of waiting) {
      if (signal?.aborted) return
      try {
        const done = await work(one)
        did += done
      } catch (error) {
        errors.push(error)
      }
    }
  }
  await Promise.all(Array.from({ length: lanes }, worker))
  if (errors.length > 0) throw errors[0]
  return did
}
