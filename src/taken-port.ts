/** A port that another program has. The message names the setting that chooses another. */
export class TakenPortError extends Error {
  constructor(setting: string, { address = '', port = 0 }: ListenError, cause: unknown) {
    const free = port < 65_535 ? port + 1 : port - 1
    super(
      `another program listens on ${address}:${port}, perhaps a Fairdock that runs already; stop it, or choose another port: ${setting}=${free}`,
      { cause },
    )
    this.name = 'TakenPortError'
  }
}

interface ListenError {
  code?: string
  address?: string
  port?: number
}

/** Waits until a server listens on the port of a setting. */
export async function listening<T>(setting: 'PORT' | 'METRICS_PORT', done: Promise<T>): Promise<T> {
  try {
    return await done
  } catch (error) {
    const found = Object(error) as ListenError
    if (found.code !== 'EADDRINUSE') throw error
    throw new TakenPortError(setting, found, error)
  }
}
