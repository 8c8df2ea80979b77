import { isPostgresError } from './constraints.ts'

/** Null if a lock of the work was not free within its time: its loop tries again. */
export async function unlessBusy<T>(work: () => Promise<T>): Promise<T | null> {
  try {
    return await work()
  } catch (error) {
    if (isPostgresError(error) && error.code === '55P03') return null
    throw error
  }
}
