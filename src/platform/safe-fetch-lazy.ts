import type { SafeFetch, SafeFetchOptions } from './safe-fetch.ts'

/** Loads `safe-fetch.ts` with the first call: a process that only serves may never need it. */
export function openSafeFetch(options: SafeFetchOptions): SafeFetch {
  let opened: Promise<SafeFetch> | null = null
  const open = async () => {
    const { createSafeFetch } = await import('./safe-fetch.ts')
    return createSafeFetch(options)
  }
  const ready = () => {
    opened ??= open()
    return opened
  }
  return {
    check: async (url) => (await ready()).check(url),
    send: async (request) => (await ready()).send(request),
    openClient: async () => (await ready()).openClient(),
    close: async () => (await opened)?.close(),
  }
}
