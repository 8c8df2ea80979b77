import { CALLS_MAX } from './limits-store.ts'

/** Hits of one call: as many for each of its buckets. */
export interface Hit {
  buckets: readonly string[]
  weight: number
  /** How long the window of these buckets is. A bucket always has the same. */
  windowSeconds: number
}

/** All hits of one bucket that are counted together. */
export interface BucketHits {
  bucket: string
  weight: number
  windowSeconds: number
}

interface WaitingHit extends Hit {
  /** When its caller is answered at the latest, on the machine's clock. */
  until: number
  resolve: (count: number) => void
  reject: (error: unknown) => void
}

/** Adds hits to buckets by the given time, and answers the new count of each bucket. */
type AddAll = (hits: readonly BucketHits[], until: number) => Promise<Map<string, number>>

/**
 * Counts hits together that arrive while others are being counted. With a statement for each, a hundred
 * callers at once would wait for each other, and the last of them miss their deadline.
 */
export function batchHits(addAll: AddAll, deadlineMs: number): (hit: Hit) => Promise<number> {
  let waiting: WaitingHit[] = []
  let isCounting = false

  async function countWaiting(): Promise<void> {
    isCounting = true
    while (waiting.length > 0) {
      const batch = waiting
      waiting = []
      try {
        answerEach(batch, await addAll(sumByBucket(batch), batch[0]?.until ?? 0))
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    isCounting = false
  }

  return (hit) => {
    if (waiting.length >= CALLS_MAX) {
      return Promise.reject(new Error('too many calls wait for the limiter'))
    }
    const { promise, resolve, reject } = Promise.withResolvers<number>()
    waiting.push({ ...hit, until: performance.now() + deadlineMs, resolve, reject })
    if (!isCounting) void countWaiting()
    return promise
  }
}

function sumByBucket(hits: readonly Hit[]): BucketHits[] {
  const sums = new Map<string, BucketHits>()
  for (const { buckets, weight, windowSeconds } of hits) {
    for (const bucket of new Set(buckets)) {
      const before = sums.get(bucket)?.weight ?? 0
      sums.set(bucket, { bucket, weight: before + weight, windowSeconds })
    }
  }
  return [...sums.values()]
}

/** Answers each caller with the count as it was after its own hits, those of later callers left out. */
function answerEach(hits: readonly WaitingHit[], counts: Map<string, number>): void {
  for (const { buckets, weight, resolve } of hits.toReversed()) {
    resolve(Math.max(0, ...buckets.map((bucket) => counts.get(bucket) ?? 0)))
    for (const bucket of new Set(buckets)) counts.set(bucket, (counts.get(bucket) ?? 0) - weight)
  }
}
