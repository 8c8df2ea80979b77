/**
 * The counters behind the limits. A bucket's window begins with its first hit and ends a minute later, or after the
 * window that the hit names, whatever hits follow. Every call ends within the deadline, with a result or an error.
 */
export interface LimitStore {
  /**
   * Adds hits atomically, and returns the count of this window. Several buckets are updated as one, so that two
   * callers never see different states of them; the highest count is returned.
   */
  hit(bucket: string | readonly string[], weight?: number, windowSeconds?: number): Promise<number>
  /** Removes one hit. */
  releaseHit(bucket: string): Promise<void>
  /** Returns the count of this window. Adds nothing. */
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

/**
 * How long a call may take: long for a statement that takes one millisecond, and short for a caller that waits to be
 * refused.
 */
export const DEADLINE_MS = 500

/** The most calls at a time: more would miss the deadline anyway, and are refused at once. */
export const CALLS_MAX = 1_000
