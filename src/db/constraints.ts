import { ApiError, type ErrorCode } from '../errors.ts'

interface PostgresError {
  code: string
  constraint?: string
}

const isPostgresError = (error: unknown): error is PostgresError =>
  error instanceof Error && /^[0-9A-Z]{5}$/.test((error as { code?: string }).code ?? '')

/** Deadlock or serialisation failure: the same transaction may well succeed now. */
export const isRetryable = (error: unknown): boolean =>
  isPostgresError(error) && (error.code === '40001' || error.code === '40P01')

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
