import { CALLS_MAX } from './limits-store.ts'

/** The hits of one call, which are added to each of its buckets. */
export interface Hit {
  buckets: readonly string[]
  weight: number
  /** The length of the window of these buckets. It is always the same for one bucket. */
  windowSeconds: number
}

/** All hits of one bucket that are counted together. */
export interface BucketHits {
  bucket: string
  weight: number
  windowSeconds: number
}

interface Waiting<Call, Answer> {
  call: Call
  /** When the call must have returned, on the machine's clock. */
  until: number
  resolve: (answer: Answer) => void
  reject: (error: unknown) => void
}

/** Sends calls together by the given time, and returns the result of each in its place. */
type SendAll<Call, Answer> = (calls: readonly Call[], until: number) => Promise<readonly Answer[]>

/**
 * Sends calls together that arrive while others are under way. With a statement for each, a hundred callers at once
 * would wait for each other, and the last of them would miss their deadline.
 */
export function batchCalls<Call, Answer>(
  sendAll: SendAll<Call, Answer>,
  deadlineMs: number,
): (call: Call) => Promise<Answer> {
  let waiting: Waiting<Call, Answer>[] = []
  let isSending = false

  async function sendWaiting(): Promise<void> {
    isSending = true
    while (waiting.length > 0) {
      const batch = waiting
      waiting = []
      const calls = batch.map(({ call }) => call)
      try {
        const answers = await sendAll(calls, batch[0]?.until ?? 0)
        for (const [i, { resolve }] of batch.entries()) resolve(answers[i] as Answer)
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    isSending = false
  }

  return (call) => {
    if (waiting.length >= CALLS_MAX) {
      return Promise.reject(new Error('too many calls wait for the limiter'))
    }
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    waiting.push({ call, until: performance.now() + deadlineMs, resolve, reject })
    if (!isSending) void sendWaiting()
    return promise
  }
}

/** Adds hits to buckets by the given time, and returns the new count of each bucket. */
type AddAll = (hits: readonly BucketHits[], until: number) => Promise<Map<string, number>>

/** Counts hits together. Each call returns the highest count of its buckets. */
export const batchHits = (addAll: AddAll, deadlineMs: number): ((hit: Hit) => Promise<number>) =>
  batchCalls(async (hits, until) => {
    return countsAfterEach(hits, await addAll(sumByBucket(hits), until))
  }, deadlineMs)

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

/** Computes for each caller the count after its own hits, without those of later callers. */
function countsAfterEach(hits: readonly Hit[], counts: Map<string, number>): number[] {
  const left = new Map(counts)
  const lastFirst = hits.toReversed().map(({ buckets, weight }) => {
    const count = Math.max(0, ...buckets.map((bucket) => left.get(bucket) ?? 0))
    for (const bucket of new Set(buckets)) left.set(bucket, (left.get(bucket) ?? 0) - weight)
    return count
  })
  return lastFirst.toReversed()
}
