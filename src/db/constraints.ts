import { ApiError, type ErrorCode } from '../errors.ts'

interface PostgresError {
  code: string
  constraint?: string
  severity?: string
}

/** Its codes have a digit somewhere; those of a socket, such as EPIPE, have none. */
const SQLSTATE = /^(?=.*\d)[0-9A-Z]{5}$/

/** Said by the server itself. */
export const isPostgresError = (error: unknown): error is Error & PostgresError =>
  error instanceof Error && SQLSTATE.test((error as { code?: string }).code ?? '')

/** Whether a statement's failure leaves its connection fit for the next one. */
export const sparesConnection = (error: unknown): boolean =>
  isPostgresError(error) && error.severity !== 'FATAL'

/** Deadlock or serialisation failure: the same transaction may well succeed now. */
export const isRetryable = (error: unknown): boolean =>
  isPostgresError(error) && (error.code === '40001' || error.code === '40P01')

/** Connections, resources and shutdowns: PostgreSQL's classes 08, 53 and 57. */
const OUTAGE = /^(08|53|57)/

/** Whether a failure lies with what we stand on, and not with our own code. */
export function isOutage(error: unknown): boolean {
  if (isPostgresError(error)) return OUTAGE.test(error.code)
  if (!(error instanceof Error)) return false
  const { code, syscall } = error as NodeJS.ErrnoException
  if (code !== undefined && syscall !== undefined) return true
  return /timeout|terminated|connection error/i.test(error.message)
}

/** Whether the server is not to be found, or does not let us into that database with that name. */
export function isShutOut(error: unknown): boolean {
  if (isPostgresError(error)) return /^(28|3D)/.test(error.code)
  const { syscall } = Object(error) as NodeJS.ErrnoException
  return error instanceof Error && ['connect', 'getaddrinfo'].includes(syscall ?? '')
}

/**
 * Gives a constraint's violation the contract's name, e.g. `{ stores_pkey: 'tenant_exists' }`.
 * The constraint decides, not a look beforehand, so that two callers at once get one winner.
 */
export async function refusing<T>(
  work: Promise<T>,
  codes: Partial<Record<string, ErrorCode>>,
): Promise<T> {
  try {
    return await work
  } catch (error) {
    const code = isPostgresError(error) ? codes[error.constraint ?? ''] : undefined
    if (code === undefined) throw error
    throw new ApiError(code, { cause: error })
  }
}
