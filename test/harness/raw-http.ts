import { connect } from 'node:net'

export interface RawAnswer {
  status: number
  headers: Record<string, string>
  text: string
}

export interface Talk {
  /** The answers received, in order. */
  answers: RawAnswer[]
  /** Whether the server closed the connection in time. */
  isClosed: boolean
  ms: number
}

interface TalkOptions {
  /** How long to listen when the server does not close the connection. */
  withinMs?: number
  /** Ends the sending side as soon as everything is sent. */
  thenEnds?: boolean
  /** Returns as soon as this many answers have come. */
  enough?: number
}

/** Sends bytes that no HTTP client would send, and reads until the server closes the connection. */
export function talk(
  url: string,
  bytes: string | Buffer,
  options: TalkOptions = {},
): Promise<Talk> {
  const { withinMs = 5_000, thenEnds = false, enough = Number.POSITIVE_INFINITY } = options
  const { hostname, port } = new URL(url)
  const began = performance.now()
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true })
    const finish = (isClosed: boolean) => {
      clearTimeout(timer)
      socket.destroy()
      const answers = readAnswers(Buffer.concat(chunks))
      resolve({ answers, isClosed, ms: performance.now() - began })
    }
    const timer = setTimeout(finish, withinMs, false)
    socket.on('data', (chunk) => {
      chunks.push(chunk)
      if (readAnswers(Buffer.concat(chunks)).length >= enough) finish(false)
    })
    socket.on('end', () => finish(true))
    // A reset is an end, too: the bytes before it were read.
    socket.on('error', () => finish(true))
    socket.write(bytes)
    if (thenEnds) socket.end()
  })
}

/** Reads answers one after another. Ours all name their length, or have no body. */
function readAnswers(bytes: Buffer): RawAnswer[] {
  const answers: RawAnswer[] = []
  let rest = bytes
  for (;;) {
    const end = rest.indexOf('\r\n\r\n')
    if (end === -1) return answers
    const [first = '', ...lines] = rest.toString('latin1', 0, end).split('\r\n')
    const headers = Object.fromEntries(
      lines.map((line) => {
        const colon = line.indexOf(':')
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
      }),
    )
    const length = Number(headers['content-length'] ?? 0)
    if (rest.length < end + 4 + length) return answers
    const text = rest.toString('utf8', end + 4, end + 4 + length)
    answers.push({ status: Number(first.split(' ')[1]), headers, text })
    rest = rest.subarray(end + 4 + length)
  }
}

/** A request as text, with the required headers unless they are given. */
export function requestText(
  line: string,
  headers: Record<string, string | string[]> = {},
  body = '',
): string {
  const all = { host: 'localhost', connection: 'close', ...headers }
  const lines = Object.entries(all).flatMap(([name, value]) =>
    [value].flat().map((each) => `${name}: ${each}`),
  )
  return `${[`${line} HTTP/1.1`, ...lines].join('\r\n')}\r\n\r\n${body}`
}
