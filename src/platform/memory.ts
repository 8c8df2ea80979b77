import { Session } from 'node:inspector/promises'

/**
 * Gives back what the start has used and does not need any more. To load the modules and to make code
 * of every route's shapes takes twice the memory that stays in use; left to itself V8 keeps all of it
 * for objects that may come. It stops the process for a moment, so it is for before the first request.
 */
export async function releaseMemory(): Promise<void> {
  const session = new Session()
  session.connect()
  try {
    await session.post('HeapProfiler.collectGarbage')
  } finally {
    session.disconnect()
  }
}
