import type { SharedCode } from '../error-codes.ts'
import { ApiError, type ErrorOptions } from '../errors.ts'

interface PostgresError {
  code: string
  constraint?: string
  detail?: string
  severity?: string
}

/** PostgreSQL's codes have at least one digit; those of a socket, such as EPIPE, have none. */
const SQLSTATE = /^(?=.*\d)[0-9A-Z]{5}$/

/** Whether the server itself raised the error. */
export const isPostgresError = (error: unknown): error is Error & PostgresError =>
  error instanceof Error && SQLSTATE.test((error as { code?: string }).code ?? '')

/** Whether a connection can be used again after this error of a statement. */
export const keepsConnectionUsable = (error: unknown): boolean =>
  isPostgresError(error) && error.severity !== 'FATAL'

/**
 * Whether an error is a deadlock or a serialisation failure: the same transaction may succeed now.
 */
export const isRetryable = (error: unknown): boolean =>
  isPostgresError(error) && (error.code === '40001' || error.code === '40P01')

/** PostgreSQL's classes 08, 53 and 57: connections, resources and shutdowns. */
const OUTAGE = /^(08|53|57)/

/** Whether an error is a failure of the infrastructure, and not of our own code. */
export function isOutage(error: unknown): boolean {
  if (isPostgresError(error)) return OUTAGE.test(error.code)
  if (!(error instanceof Error)) return false
  const { code, syscall } = error as NodeJS.ErrnoException
  if (code !== undefined && syscall !== undefined) return true
  return /timeout|terminated|connection error/i.test(error.message)
}

/** Whether the database refuses us: the server is not found, or refuses the user or the database. */
export function isShutOut(error: unknown): boolean {
  if (isPostgresError(error)) return /^(28|3D)/.test(error.code)
  const { syscall } = Object(error) as NodeJS.ErrnoException
  return error instanceof Error && ['connect', 'getaddrinfo'].includes(syscall ?? '')
}

/**
 * Turns the violation of a constraint into an error of the API, e.g. `{ stores_pkey: 'tenant_exists' }`, with the
 * `refuse` of the module for its own codes. The constraint decides, and not a query beforehand, so that exactly one of
 * two simultaneous callers wins.
 */
export function mapViolations<T>(
  work: Promise<T>,
  codes: Partial<Record<string, SharedCode>>,
): Promise<T>
export function mapViolations<T, Code extends string>(
  work: Promise<T>,
  codes: Partial<Record<string, Code>>,
  refuse: (code: Code, options: ErrorOptions) => ApiError,
): Promise<T>
export async function mapViolations<T>(
  work: Promise<T>,
  codes: Partial<Record<string, string>>,
  refuse = (code: string, options: ErrorOptions) => new ApiError(code as SharedCode, options),
): Promise<T> {
  try {
    return await work
  } catch (error) {
    const code = isPostgresError(error) ? codes[error.constraint ?? ''] : undefined
    if (code === undefined) throw error
    throw refuse(code, { cause: error })
  }
}

/** Whether a statement failed because of this constraint. */
export const isViolationOf = (error: unknown, constraint: string): boolean =>
  isPostgresError(error) && error.constraint === constraint

/** The error code of `fd_use`: the store would exceed a limit. */
const LIMIT_REACHED = 'FD004'

/**
 * Turns the refusal of a store's limit into an error of the API, with the limit and how much of it is used. The
 * triggers of the counted tables refuse, so any write may fail with it. Why triggers: decision 0029.
 */
export function toRefusal(error: unknown): unknown {
  if (!isPostgresError(error) || error.code !== LIMIT_REACHED) return error
  const body = JSON.parse(error.detail ?? '{}') as { limit: string; max: number; used: number }
  return new ApiError('limit_reached', {
    cause: error,
    body,
    message: `The store may have at most ${body.max} of \`${body.limit}\` and has ${body.used}. Delete some, or ask the operator.`,
  })
}
