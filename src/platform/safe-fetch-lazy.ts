import type { SafeFetch, SafeFetchOptions, SafeLine } from './safe-fetch.ts'

/** Loads the client with the first call: a process that only serves may never need it. */
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
    openLine() {
      let line: Promise<SafeLine> | null = null
      const lineReady = () => {
        line ??= ready().then((fetch) => fetch.openLine())
        return line
      }
      return {
        send: async (request) => (await lineReady()).send(request),
        close: () => void line?.then((each) => each.close()),
      }
    },
    close: async () => (await opened)?.close(),
  }
}
