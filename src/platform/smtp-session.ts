import type { Socket } from 'node:net'
import { promisify } from 'node:util'
import type SMTPConnection from 'nodemailer/lib/smtp-connection/index.js'

/** A connection to a mail server that has greeted us and, where needed, logged us in. */
export interface SmtpSession {
  /** Whether commands may be sent before those ahead of them are answered. */
  readonly canPipeline: boolean
  isOpen(): boolean
  /** Sends ASCII text. A server accepts other characters only where it says so. */
  write(text: string): void
  /** Waits for the next replies of the server that no other call waits for. Fails where the connection ends before. */
  replies(count: number): Promise<string[]>
  /** Closes the connection after that time, unless it is called again before. */
  closeIn(ms: number): void
  close(): void
}

/** The parts of the library's open connection that a session needs. Its declarations leave them out. */
interface Opened {
  _socket: Socket
  _onSocketData: (chunk: Buffer) => void
  _supportedExtensions: readonly string[]
}

/**
 * The socket's own time limit. It is only the last resort: a message has a deadline, and an idle connection has its
 * own.
 */
const SILENT_MS = 60_000

/** Opens a session with the library: TLS, greeting and login. `deliverMs` limits that, and later each message. */
export async function openSession(
  smtpUrl: string,
  deliverMs: number,
): Promise<SmtpSession | { error: string }> {
  // Loaded with the first mail: most processes never send one.
  const [{ default: Connection }, { parseConnectionUrl }] = await Promise.all([
    import('nodemailer/lib/smtp-connection/index.js'),
    import('nodemailer/lib/shared/index.js'),
  ])
  const options: SMTPConnection.Options & { auth?: SMTPConnection.Credentials | undefined } =
    parseConnectionUrl(smtpUrl)
  const connection = new Connection({
    ...options,
    connectionTimeout: deliverMs,
    greetingTimeout: deliverMs,
    socketTimeout: SILENT_MS,
  })
  const ended = Promise.withResolvers<never>()
  ended.promise.catch(() => {})
  connection.on('error', ended.reject)
  connection.on('end', () => ended.reject(new Error(ENDED)))
  const timer = setTimeout(() => connection.close(), deliverMs)
  try {
    // The connection may end without calling back.
    await Promise.race([promisify(connection.connect).call(connection), ended.promise])
    const { auth } = options
    if (auth !== undefined) {
      await Promise.race([promisify(connection.login).call(connection, auth), ended.promise])
    }
  } catch (error) {
    connection.close()
    return { error: describe(error) }
  } finally {
    clearTimeout(timer)
  }
  return takeOver(connection, deliverMs)
}

const ENDED = 'the connection to the mail server has ended'

export const describe = (error: unknown): string =>
  error instanceof Error ? error.message : 'not an Error'

/** The replies that a caller waits for. */
interface Awaited {
  count: number
  got: string[]
  resolve(replies: string[]): void
  reject(error: Error): void
}

/**
 * Reads the replies in place of the library, which passes on only one in each turn of the event loop, and cannot
 * handle messages that begin before the previous one is answered.
 */
function takeOver(connection: SMTPConnection, deliverMs: number): SmtpSession {
  const { _socket, _onSocketData, _supportedExtensions } = connection as unknown as Opened
  const awaited: Awaited[] = []
  let ended: Error | null = null
  const end = (error: Error) => {
    ended ??= error
    clearTimeout(timer)
    for (const { reject } of awaited.splice(0)) reject(ended)
  }
  const close = (reason = ENDED) => {
    end(new Error(reason))
    connection.close()
  }
  let timerMs = deliverMs
  let timer = setTimeout(() => close(), timerMs)
  const receive = (reply: string) => {
    const [first] = awaited
    // A reply that no caller waits for can only say that the server ends the connection.
    if (first === undefined) return close()
    if (first.got.push(reply) === first.count) awaited.shift()?.resolve(first.got)
    // The server sends this reply, to any command, when it is about to end the connection (RFC 5321, 4.2).
    if (reply.startsWith('421')) close(reply)
  }
  _socket.off('data', _onSocketData)
  _socket.on(
    'data',
    readReplies(receive, () => close()),
  )
  connection.on('error', end)
  connection.on('end', () => end(new Error(ENDED)))
  return {
    canPipeline: _supportedExtensions.includes('PIPELINING'),
    isOpen: () => ended === null,
    write: (text) => void _socket.write(text, 'latin1'),
    replies: (count) =>
      new Promise((resolve, reject) => {
        if (ended === null) awaited.push({ count, got: [], resolve, reject })
        else reject(ended)
      }),
    closeIn(ms) {
      if (ended !== null) return
      // A refresh is cheaper than another timer for each message.
      if (ms === timerMs) return void timer.refresh()
      clearTimeout(timer)
      timerMs = ms
      timer = setTimeout(() => close(), ms)
    },
    close: () => close(),
  }
}

/** The longest reply: a server that sends more is not a mail server. */
const REPLY_LENGTH_MAX = 65_536

/** Divides the text from the server into replies, of one line or of several (RFC 5321, 4.2.1). */
function readReplies(receive: (reply: string) => void, close: () => void) {
  let rest = ''
  return (chunk: Buffer): void => {
    const lines = `${rest}${chunk.toString('latin1')}`.split('\n')
    const last = lines.pop() ?? ''
    let reply = ''
    for (const line of lines) {
      const text = line.trimEnd()
      reply += reply === '' ? text : `\n${text}`
      if (/^\d{3}-/.test(text) || text === '') continue
      receive(reply)
      reply = ''
    }
    rest = reply === '' ? last : `${reply}\n${last}`
    if (rest.length > REPLY_LENGTH_MAX) close()
  }
}
