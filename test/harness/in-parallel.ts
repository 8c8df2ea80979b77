/**
 * Does `work` so many times, `lanes` at a time. More lanes than connections would only wait for one,
 * and on a busy machine for too long.
 */
export async function inParallel<T>(
  lanes: number,
  times: number,
  work: (n: number) => Promise<T>,
): Promise<T[]> {
  const results: T[] = []
  let next = 0
  const lane = async () => {
    for (let n = next++; n < times; n = next++) results.push(await work(n))
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  return results
}
