import { isPostgresError } from './constraints.ts'

/** Runs the work. Returns null if a lock that it needs was not free in time; its loop then tries again. */
export async function unlessBusy<T>(work: () => Promise<T>): Promise<T | null> {
  try {
    return await work()
  } catch (error) {
    if (isPostgresError(error) && error.code === '55P03') return null
    throw error
  }
}
