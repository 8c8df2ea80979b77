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

/** Speaks SMTP by a table of replies, by the first word of each command. `null`: ends the connection. */
const speaking =
  (replies: Record<string, string | null>) =>
  (socket: Socket): void => {
    let inData = false
    socket.write('220 hello\r\n')
    socket.on('data', (chunk) => {
      for (const line of chunk.toString().split('\r\n').slice(0, -1)) {
        if (inData && line !== '.') continue
        const word = inData ? 'end' : (line.split(/[ :]/)[0] ?? '').toUpperCase()
        inData = word === 'DATA' && replies.DATA === undefined
        const usual = word === 'DATA' ? '354 go on' : '250 ok'
        const reply = replies[word] === undefined ? usual : replies[word]
        if (reply === null) return void socket.destroy()
        if (reply !== '') socket.write(`${reply}\r\n`)
      }
    })
  }

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

  test('opens another connection where the server has ended one that was idle', async (t) => {
    const sockets = new Set<Socket>()
    const url = await startBadSmtp(t, (socket) => {
      sockets.add(socket)
      speaking({})(socket)
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
    test(`says ${state} where the server ${what}`, async (t) => {
      for (const EHLO of ['250 hello', '250-hello\r\n250 PIPELINING']) {
        const url = await startBadSmtp(t, speaking({ EHLO, ...replies }))
        const transport = open(url, { deliverMs: 300 })
        const outcome = await transport.deliver(to(1), write)
        assert.equal(outcome.state, state, `${EHLO} ${JSON.stringify(outcome)}`)
        const isRefusal = 'isOfReader' in outcome
        if (isRefusal) assert.equal(outcome.isOfReader, 'RCPT' in replies)
      }
    })
  }

  test('sends nothing that its caller no longer wants to send', async (t) => {
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

  test('puts no address into a command that would be more than one', async (t) => {
    const { url, received } = await startSmtp(t)
    for (const address of ['a@b.example>\r\nRCPT TO:<c@d.example', 'a @b.example', 'ü@b.example']) {
      const outcome = await open(url).deliver({ from: 'news@shop.example', to: address }, write)
      assert.equal(outcome.state, 'refused', address)
    }
    assert.deepEqual(received, [])
  })

  test('says unavailable where no server listens', async () => {
    const transport = open('smtp://127.0.0.1:1', { deliverMs: 2_000 })
    assert.equal((await transport.deliver(to(1), write)).state, 'unavailable')
  })

  test('logs in where the address has a name and a password', async (t) => {
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

  test('goes on with others after a refusal', async (t) => {
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
