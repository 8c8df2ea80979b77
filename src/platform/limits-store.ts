/**
 * Where hits are counted. A bucket's window begins with its first hit and is over a minute later,
 * whatever comes in between. Every call ends within the deadline, with an answer or an error.
 */
export interface LimitStore {
  /**
   * Counts one or several, atomically, and answers how many this window has now. Several buckets are
   * counted as one, so that two callers never find each other in different ones; the fullest answers.
   */
  hit(bucket: string | readonly string[], weight?: number): Promise<number>
  /** Takes one back that turned out not to count. */
  unhit(bucket: string): Promise<void>
  /** How many this window has, without counting. */
  peek(bucket: string): Promise<number>
  /** Throws where `hit` would, too. */
  ping(): Promise<void>
  close(): Promise<void>
}

export interface StoreOptions {
  url: string
  /** Hears of connections that were lost in between. */
  onError?: (error: Error) => void
  /** How long one call may take, waiting for a connection included. */
  deadlineMs?: number
}

export const WINDOW_SECONDS = 60

/** Long for a statement that takes one millisecond, short for a caller who is to be refused. */
export const DEADLINE_MS = 500

/** More calls than this at a time would miss the deadline anyway; they are refused at once. */
export const CALLS_MAX = 1_000
