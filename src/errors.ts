import {
  type ErrorCode,
  type ErrorTable,
  type ErrorText,
  SHARED_ERRORS,
  type SharedCode,
} from './error-codes.ts'

/**
 * Who must act on a failure. A bug: a developer. An outage of our infrastructure: the operator. Upstream: a service
 * that we call and do not run, such as a payment gateway. An overload ends without action.
 */
export type FailureKind = 'bug' | 'outage' | 'upstream' | 'overload'

export interface ErrorOptions {
  /** Replaces the catalogue's message. Shown to the caller, so never a secret. */
  message?: string
  /** Further members of the response body, beside `error`. */
  body?: Record<string, unknown>
  headers?: Record<string, string>
  /** The actual error. Logged, never sent. */
  cause?: unknown
  /** The kind of a 5xx, where the cause does not show it. */
  kind?: FailureKind
}

/** The only error a module throws on purpose. Anything else answers 503 `service_unavailable`. */
export class ApiError extends Error {
  readonly code: ErrorCode
  readonly status: number
  readonly body: Record<string, unknown>
  readonly headers: Record<string, string>
  readonly kind: FailureKind | undefined

  constructor(code: SharedCode, options?: ErrorOptions)
  /** Of a code that one module alone has: made by its `refuse`, which knows the text. */
  constructor(code: ErrorCode, options: ErrorOptions, text: ErrorText)
  constructor(
    code: ErrorCode,
    options: ErrorOptions = {},
    text: ErrorText = SHARED_ERRORS[code as SharedCode],
  ) {
    const [status, message] = text
    super(options.message ?? message, { cause: options.cause })
    this.name = 'ApiError'
    this.code = code
    this.status = status
    this.body = options.body ?? {}
    this.headers = options.headers ?? {}
    this.kind = options.kind
  }
}

/**
 * Creates the function that makes the errors of a module's own codes, and of shared ones. A code can only be thrown
 * where its text is known (decision 0077).
 */
export const defineErrors =
  <T extends ErrorTable>(table: T) =>
  (code: SharedCode | (keyof T & ErrorCode), options: ErrorOptions = {}): ApiError =>
    new ApiError(code, options, table[code] ?? SHARED_ERRORS[code as SharedCode])

/** How many causes are looked at: they may form a cycle. */
const CAUSES_MAX = 5

/** An error and its causes, the outermost first. */
export function causesOf(error: unknown): unknown[] {
  const causes = [error]
  for (let cause = error; causes.length <= CAUSES_MAX; causes.push(cause)) {
    cause = cause instanceof Error ? cause.cause : undefined
    if (cause === undefined) break
  }
  return causes
}

/** A fault of a body: its message and its place. */
export interface Fault {
  path: string
  message: string
}

/** The most faults that one answer names: as many as a person corrects at once. */
export const FAULTS_MAX = 20

/** Refuses a body with all of its faults. */
export const invalidBodyOf = (issues: readonly Fault[]) =>
  new ApiError('invalid_body', { body: { issues: issues.slice(0, FAULTS_MAX) } })

/** Refuses a member of a body that matches its shape but is not possible. */
export const invalidBody = (path: string, message: string) => invalidBodyOf([{ path, message }])

/** A rule of a body: whether it holds, and the fault to report where it does not. */
type Rule = readonly [holds: boolean, path: string, message: string]

/** Refuses a body with all rules that it breaks. */
export function requireRules(rules: readonly Rule[]): void {
  const broken = rules.filter(([holds]) => !holds)
  if (broken.length === 0) return
  throw invalidBodyOf(broken.map(([, path, message]) => ({ path, message })))
}

/** Returns the faults that an error names. Any other error is thrown again. */
function faultsOf(error: unknown): readonly Fault[] {
  if (error instanceof ApiError && error.code === 'invalid_body') {
    return error.body.issues as readonly Fault[]
  }
  throw error
}

/** Reads each item of a list, and refuses the body with the faults of all items. */
export function readEach<T, R>(list: readonly T[], read: (item: T, at: number) => R): R[] {
  const results: R[] = []
  const faults: Fault[] = []
  for (const [at, item] of list.entries()) {
    try {
      results.push(read(item, at))
    } catch (error) {
      faults.push(...faultsOf(error))
      if (faults.length >= FAULTS_MAX) break
    }
  }
  if (faults.length > 0) throw invalidBodyOf(faults)
  return results
}

type Readers = Record<string, () => unknown>

/** Reads the parts of a body by their readers, and refuses the body with the faults of all parts. */
export function readParts<T extends Readers>(readers: T): { [K in keyof T]: ReturnType<T[K]> } {
  const parts = readEach(Object.entries(readers), ([name, read]) => [name, read()] as const)
  return Object.fromEntries(parts) as { [K in keyof T]: ReturnType<T[K]> }
}

/** Writes the error body of the contract as text. It is one function, so that equal errors are equal bytes. */
export function errorBody(error: ApiError, correlationId?: string): string {
  const { code, message, body } = error
  return JSON.stringify({
    error: correlationId === undefined ? { code, message } : { code, message, correlationId },
    ...body,
  })
}
