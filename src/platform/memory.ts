import { Session } from 'node:inspector/promises'

/**
 * Gives memory back to the system that only the start needed. Loading the modules and compiling the shapes of all
 * routes takes twice the memory that stays in use, and V8 would keep all of it for later objects. It stops the
 * process for a moment, so call it before the first request.
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
