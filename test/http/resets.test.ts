import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { openTestApp } from '../harness/app.ts'
import { requestText } from '../harness/raw-http.ts'

test('a client that resets its connection at any moment ends only that connection', async (t) => {
  const app = await openTestApp(t)
  const { port } = new URL(app.url)
  const openings = [
    requestText('CONNECT example.com:443'),
    requestText('GET /healthz'),
    requestText('POST /v1/identity/login', { 'content-length': '100' }),
    'GET /healthz HTTP/1.1\r\nhost: x\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n',
    'nonsense\r\n\r\n',
    '',
  ]
  for (let round = 0; round < 10; round++) {
    for (const opening of openings) {
      const socket = connect({ port: Number(port), host: '127.0.0.1' }).on('error', () => {})
      await once(socket, 'connect')
      socket.write(opening)
      // At once, and a moment later while the response is being sent.
      if (round % 2 === 0) await new Promise((resolve) => setTimeout(resolve, round))
      socket.resetAndDestroy()
    }
  }
  assert.equal((await app.anyone.get('/healthz')).status, 200)
})
