import { withinLoopTime } from './loop-time.ts'
import { CALLS_MAX } from './rate-limits-store.ts'

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
  /** Whether it has waited too long and was refused: it is not sent any more. */
  isOver: boolean
  resolve: (answer: Answer) => void
  reject: (error: unknown) => void
}

/** Sends calls together, and returns the result of each in its place. */
type SendAll<Call, Answer> = (calls: readonly Call[]) => Promise<readonly Answer[]>

/**
 * Sends calls together that arrive while others are under way. With a statement for each, a hundred callers at once
 * would wait for each other, and the last of them would miss their deadline. Each call has a deadline of its own: one
 * that has waited too long is refused alone.
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
      const batch = waiting.filter(({ isOver }) => !isOver)
      waiting = []
      if (batch.length === 0) break
      const calls = batch.map(({ call }) => call)
      try {
        const answers = await sendAll(calls)
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
    const entry: Waiting<Call, Answer> = { call, isOver: false, resolve, reject }
    waiting.push(entry)
    if (!isSending) void sendWaiting()
    return withinLoopTime(promise, deadlineMs, 'the limiter gave no count in time').finally(() => {
      entry.isOver = true
    })
  }
}

/** Adds hits to buckets, and returns the new count of each bucket. */
type AddAll = (hits: readonly BucketHits[]) => Promise<Map<string, number>>

/** Counts hits together. Each call returns the highest count of its buckets. */
export const batchHits = (addAll: AddAll, deadlineMs: number): ((hit: Hit) => Promise<number>) =>
  batchCalls(async (hits) => countsAfterEach(hits, await addAll(sumByBucket(hits))), deadlineMs)

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
