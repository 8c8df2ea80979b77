/**
 * The counters behind the limits. A bucket's window begins with its first hit and ends a minute
 * later, or as much later as the hit says, whatever comes in between. Every call ends within the deadline, with an answer or an
 * error.
 */
export interface LimitStore {
  /**
   * Adds hits atomically, and answers the count of this window. Several buckets are updated as one,
   * so that two callers never see different states of them; the highest count is answered.
   */
  hit(bucket: string | readonly string[], weight?: number, windowSeconds?: number): Promise<number>
  /** Takes back one hit. */
  unhit(bucket: string): Promise<void>
  /** The count of this window. Adds nothing. */
  peek(bucket: string): Promise<number>
  /** Throws where `hit` would throw. */
  ping(): Promise<void>
  close(): Promise<void>
}

export interface StoreOptions {
  url: string
  /** Called when a connection is lost between two calls. */
  onError?: (error: Error) => void
  /** How long one call may take, waiting for a connection included. */
  deadlineMs?: number
}

export const WINDOW_SECONDS = 60

/** The longest window. The upkeep of the counters keeps them for as long. */
export const HOUR_SECONDS = 3_600

/**
 * Long for a statement that takes one millisecond, and short for a caller that waits to be refused.
 */
export const DEADLINE_MS = 500

/** More calls than this at a time would miss the deadline anyway; they are refused at once. */
export const CALLS_MAX = 1_000
