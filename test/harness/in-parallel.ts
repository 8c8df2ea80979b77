/**
 * Runs `work` a number of times, `parallel` at a time. More at a time than there are connections
 * would only wait for one, and on a busy machine for too long.
 */
export async function inParallel<T>(
  parallel: number,
  times: number,
  work: (n: number) => Promise<T>,
): Promise<T[]> {
  const results: T[] = []
  let next = 0
  const runNext = async () => {
    for (let n = next++; n < times; n = next++) results.push(await work(n))
  }
  await Promise.all(Array.from({ length: parallel }, runNext))
  return results
}
