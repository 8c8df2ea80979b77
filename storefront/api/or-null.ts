import type { Site } from '../site/site.ts'
import { isUnknownStore, PlatformError } from './platform-client.ts'

/** Awaits an answer; null if the platform says that there is no such thing. Other errors are thrown. */
export async function orNull<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

/**
 * Like `orNull`, for a thing within a store. If the store itself is gone, the error is thrown, because
 * another page is shown then. A preview is the exception: a store that was never open has an empty
 * catalog.
 */
export async function orNullIn<T>({ preview }: Site, answer: Promise<T>): Promise<T | null> {
  try {
    return await answer
  } catch (error) {
    if (isMissing(error) && (preview !== null || !isUnknownStore(error))) return null
    throw error
  }
}

/**
 * Whether an error says that a thing does not exist. A 400 says so, too: the platform refuses an id or a slug that no
 * thing can have.
 */
const isMissing = (error: unknown): boolean =>
  error instanceof PlatformError && [400, 404].includes(error.status)
