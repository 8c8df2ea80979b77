import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { describe, test } from 'node:test'
import { type BulkOptions, createBulkTransport } from '../../src/platform/bulk-smtp.ts'
import { until } from '../harness/eventually.ts'
import { startBadSmtp, startSmtp } from '../harness/smtp.ts'

const MESSAGE = 'Subject: hello\r\n\r\nHello.\r\n.\r\n..\r\n'
const write = () => MESSAGE
const to = (n: number | string) => ({ from: 'news@shop.example', to: `reader-${n}@example.com` })

/** The mail server of a test ends after its last connection. */
const open = (url: string, options: BulkOptions = {}) =>
  createBulkTransport(url, { idleMs: 200, ...options })

/** What a server says to a command, by its first word, or to the `end` of a message. `null`: it ends the connection. */
type Say = (word: string, to: string) => string | null | undefined

const byWord =
  (replies: Record<string, string | null>): Say =>
  (word) =>
    replies[word]

/** Speaks SMTP: what `say` leaves open is answered as usual. */
const speaking =
  (say: Say, onChunk = (_text: string) => {}) =>
  (socket: Socket): void => {
    let inData = false
    let to = ''
    socket.write('220 hello\r\n')
    socket.on('data', (chunk) => {
      onChunk(chunk.toString())
      for (const line of chunk.toString().split('\r\n').slice(0, -1)) {
        if (inData && line !== '.') continue
        const word = inData ? 'end' : (line.split(/[ :]/)[0] ?? '').toUpperCase()
        to = /^RCPT TO:<(.*)>/.exec(line)?.[1] ?? to
        const said = say(word, to)
        inData = word === 'DATA' && said === undefined
        const reply = said === undefined ? (word === 'DATA' ? '354 go on' : '250 ok') : said
        if (reply === null) return void socket.destroy()
        // Silent from now on: a server that leaves out one reply and sends the next does not speak SMTP.
        if (reply === '') return void socket.removeAllListeners('data')
        socket.write(`${reply}\r\n`)
      }
    })
  }

const PIPELINING = { EHLO: '250-hello\r\n250 PIPELINING' }

describe('the transport for many mails', () => {
  test('sends each message once, as it is, over few connections', async (t) => {
    let connections = 0
    const { url, received } = await startSmtp(t, {
      onConnect(_session, done) {
        connections += 1
        done()
      },
    })
    const transport = open(url, { connections: 3 })
    const outcomes = await Promise.all(
      Array.from({ length: 60 }, (_, n) => transport.deliver(to(n), write)),
    )
    assert.ok(outcomes.every(({ state }) => state === 'sent'))
    assert.deepEqual(
      received.map((mail) => mail.to[0]).sort(),
      Array.from({ length: 60 }, (_, n) => to(n).to).sort(),
    )
    assert.ok(received.every(({ raw }) => raw === MESSAGE))
    assert.ok(connections <= 3, `${connections} connections`)
  })

  test('opens another connection if the server has closed an idle one', async (t) => {
    const sockets = new Set<Socket>()
    const url = await startBadSmtp(t, (socket) => {
      sockets.add(socket)
      speaking(byWord({}))(socket)
    })
    const transport = open(url)
    assert.equal((await transport.deliver(to(1), write)).state, 'sent')
    for (const socket of sockets) socket.destroy()
    assert.equal((await transport.deliver(to(2), write)).state, 'sent')
    assert.equal(sockets.size, 2)
  })

  for (const [what, replies, state] of [
    ['refuses the reader', { RCPT: '550 no such user' }, 'refused'],
    ['refuses the message', { end: '554 spam' }, 'refused'],
    ['defers the reader', { RCPT: '450 try later' }, 'deferred'],
    ['defers the message', { end: '451 try later' }, 'deferred'],
    ['refuses the sender', { MAIL: '550 not you' }, 'unavailable'],
    ['has no room for connections', { EHLO: '421 busy', HELO: '421 busy' }, 'unavailable'],
    ['has no more time for the reader', { RCPT: '421 later' }, 'unavailable'],
    ['has no more time for the message', { end: '421 later' }, 'deferred'],
    ['answers the message with no code', { end: 'what?' }, 'unknown'],
    ['ends before the message', { DATA: null }, 'unavailable'],
    ['ends after the message', { end: null }, 'unknown'],
    ['is silent before the message', { DATA: '' }, 'unavailable'],
    ['is silent after the message', { end: '' }, 'unknown'],
  ] as const) {
    test(`reports ${state} if the server ${what}`, async (t) => {
      for (const EHLO of ['250 hello', '250-hello\r\n250 PIPELINING']) {
        const url = await startBadSmtp(t, speaking(byWord({ EHLO, ...replies })))
        // Only a server that says nothing needs the deadline; a busy machine may take longer for the others.
        const isSilent = Object.values(replies).includes('')
        const transport = open(url, { deliverMs: isSilent ? 300 : 30_000 })
        const outcome = await transport.deliver(to(1), write)
        assert.equal(outcome.state, state, `${EHLO} ${JSON.stringify(outcome)}`)
        const isRefusal = 'isOfReader' in outcome
        if (isRefusal) assert.equal(outcome.isOfReader, 'RCPT' in replies)
      }
    })
  }

  test('sends the commands of the next message together with those of the previous one', async (t) => {
    const chunks: string[] = []
    const url = await startBadSmtp(
      t,
      speaking(byWord(PIPELINING), (text) => chunks.push(text)),
    )
    const transport = open(url, { connections: 1 })
    const outcomes = await Promise.all([1, 2, 3].map((n) => transport.deliver(to(n), write)))
    assert.deepEqual(
      outcomes.map(({ state }) => state),
      ['sent', 'sent', 'sent'],
    )
    const [, first = '', ...messages] = chunks
    assert.match(first, /RCPT TO:<reader-1@/)
    assert.equal(messages.length, 3, 'one packet for each message')
    assert.match(messages[0] ?? '', /\r\n\.\r\nMAIL FROM:.*\r\nRCPT TO:<reader-2@.*\r\nDATA\r\n$/)
    assert.match(messages[1] ?? '', /RCPT TO:<reader-3@/)
    assert.match(messages[2] ?? '', /\r\n\.\r\n$/)
  })

  for (const [what, { nth, word, reply }, states] of [
    [
      'ends after the answer to the one before',
      { nth: 2, word: 'RCPT', reply: null },
      ['sent', 'sent', 'sent'],
    ],
    [
      'has no more time for it',
      { nth: 2, word: 'RCPT', reply: '421 enough' },
      ['sent', 'sent', 'sent'],
    ],
    [
      'ends without an answer to the one before',
      { nth: 1, word: 'end', reply: null },
      ['unknown', 'sent', 'sent'],
    ],
    [
      'is silent about the one before',
      { nth: 1, word: 'end', reply: '' },
      ['unknown', 'sent', 'sent'],
    ],
    [
      'refuses the one before',
      { nth: 1, word: 'end', reply: '554 spam' },
      ['refused', 'sent', 'sent'],
    ],
    ['refuses its reader', { nth: 2, word: 'RCPT', reply: '550 no' }, ['sent', 'refused', 'sent']],
  ] as const) {
    test(`sends a message once that was begun behind another if the server ${what}`, async (t) => {
      const taken: string[] = []
      let isUsual = false
      const say: Say = (asked, reader) => {
        if (asked === 'EHLO') return PIPELINING.EHLO
        if (asked === 'DATA' && isUsual && states[nth - 1] === 'refused' && reader === to(nth).to) {
          return '503 nobody to send it to'
        }
        if (asked === 'end') taken.push(reader)
        if (isUsual || asked !== word || reader !== to(nth).to) return undefined
        isUsual = true
        return reply
      }
      const transport = open(await startBadSmtp(t, speaking(say)), {
        connections: 1,
        deliverMs: reply === '' ? 2_000 : 30_000,
      })
      const outcomes = await Promise.all([1, 2, 3].map((n) => transport.deliver(to(n), write)))
      assert.deepEqual(
        outcomes.map(({ state }) => state),
        states,
      )
      const refusedBefore = word === 'RCPT' && states[nth - 1] === 'refused'
      const wanted = [1, 2, 3].filter((n) => !(refusedBefore && n === nth))
      assert.deepEqual(
        taken.toSorted(),
        wanted.map((n) => to(n).to),
        'each once',
      )
    })
  }

  test('sends no message that its caller no longer wants to send', async (t) => {
    const { url, received } = await startSmtp(t)
    const transport = open(url, { connections: 1 })
    const [first, second] = await Promise.all([
      transport.deliver(to(1), write),
      transport.deliver(to(2), async () => (received.length > 0 ? null : MESSAGE)),
    ])
    assert.deepEqual([first?.state, second?.state], ['sent', 'withheld'])
    await assert.rejects(
      transport.deliver(to(3), () => {
        throw new Error('cannot be written')
      }),
      /cannot be written/,
    )
    assert.equal((await transport.deliver(to(4), write)).state, 'sent')
    assert.equal(received.length, 2)
  })

  test('puts no address into a command that would make it two commands', async (t) => {
    const { url, received } = await startSmtp(t)
    for (const address of ['a@b.example>\r\nRCPT TO:<c@d.example', 'a @b.example', 'ü@b.example']) {
      const outcome = await open(url).deliver({ from: 'news@shop.example', to: address }, write)
      assert.equal(outcome.state, 'refused', address)
    }
    assert.deepEqual(received, [])
  })

  test('reports unavailable if no server listens', async () => {
    const transport = open('smtp://127.0.0.1:1', { deliverMs: 2_000 })
    assert.equal((await transport.deliver(to(1), write)).state, 'unavailable')
  })

  test('logs in if the address has a name and a password', async (t) => {
    const seen: string[] = []
    const { url, received } = await startSmtp(t, {
      authOptional: false,
      disabledCommands: ['STARTTLS'],
      allowInsecureAuth: true,
      onAuth({ username, password }, _session, done) {
        seen.push(`${username}:${password}`)
        if (password === 'right') done(null, { user: username })
        else done(new Error('wrong'))
      },
    })
    const withLogin = (password: string) => url.replace('://', `://shop:${password}@`)
    assert.equal((await open(withLogin('right')).deliver(to(1), write)).state, 'sent')
    assert.equal((await open(withLogin('wrong')).deliver(to(2), write)).state, 'unavailable')
    assert.deepEqual([seen, received.length], [['shop:right', 'shop:wrong'], 1])
  })

  test('closes a connection that has waited for too long', async (t) => {
    let connected = 0
    const { url } = await startSmtp(t, {
      onConnect(_session, done) {
        connected += 1
        done()
      },
      onClose() {
        connected -= 1
      },
    })
    const transport = open(url, { idleMs: 50 })
    assert.equal((await transport.deliver(to(1), write)).state, 'sent')
    assert.equal(connected, 1)
    await until('it is closed', () => connected === 0)
  })

  test('goes on with other messages after a refusal', async (t) => {
    let connections = 0
    const { url, received } = await startSmtp(t, {
      onConnect(_session, done) {
        connections += 1
        done()
      },
      onRcptTo({ address }, _session, done) {
        if (address.includes('-bad@')) done(Object.assign(new Error('no'), { responseCode: 550 }))
        else done()
      },
    })
    const transport = open(url, { connections: 1 })
    const states: string[] = []
    for (const n of [1, 'bad', 2, 'bad', 3]) {
      states.push((await transport.deliver(to(n), write)).state)
    }
    assert.deepEqual(states, ['sent', 'refused', 'sent', 'refused', 'sent'])
    assert.deepEqual([received.length, connections], [3, 1])
  })
})
