import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** A double of NMI's Collect.js: a script, the frames with its card fields, and tokens. */
export interface TestCollect {
  /** The address of the script. */
  url: string
  origin: string
  /** The text typed into the fields, by token. */
  cards: Map<string, Record<string, string>>
  /** The keys that pages have named. */
  keys: string[]
  close(): Promise<void>
}

const SCRIPT = `(() => {
  const own = document.currentScript
  const origin = new URL(own.src).origin
  fetch(origin + '/key?' + own.dataset.tokenizationKey)
  let config
  let open = null
  window.CollectJS = {
    configure(given) {
      config = given
      for (const [name, { selector, title, placeholder }] of Object.entries(given.fields)) {
        const frame = document.createElement('iframe')
        frame.src = origin + '/field?' + new URLSearchParams({ name, placeholder })
        frame.title = title
        frame.name = name
        document.querySelector(selector).replaceChildren(frame)
      }
    },
    startPaymentRequest() {
      open = { token: 'tok-' + crypto.randomUUID(), left: Object.keys(config.fields) }
      for (const name of open.left) window.frames[name].postMessage(open.token, origin)
    },
  }
  addEventListener('message', ({ data, origin: from }) => {
    if (from !== origin || open === null) return
    config.validationCallback(data.name, data.isValid, data.isValid ? '' : 'wrong')
    if (!data.isValid) return void (open = null)
    open.left = open.left.filter((each) => each !== data.name)
    if (open.left.length > 0) return
    const { token } = open
    open = null
    config.callback({ token })
  })
})()`

const FIELD = `<!doctype html><html lang="en"><title>field</title><body style="margin:0"><input aria-label="card" style="width:95%;border:0;font:16px sans-serif"><script>
const asked = new URLSearchParams(location.search)
const input = document.querySelector('input')
input.placeholder = asked.get('placeholder')
addEventListener('message', async ({ data: token, source, origin }) => {
  const name = asked.get('name')
  await fetch('/part', { method: 'POST', body: JSON.stringify({ token, name, value: input.value }) })
  source.postMessage({ name, isValid: input.value !== '' }, origin)
})</script>`

export async function startCollect(): Promise<TestCollect> {
  const cards: TestCollect['cards'] = new Map()
  const keys: string[] = []
  const server = createServer(async (request, response) => {
    const { pathname, search } = new URL(request.url ?? '', 'http://collect')
    response.setHeader('access-control-allow-origin', '*')
    if (pathname === '/token/Collect.js') {
      response.setHeader('content-type', 'text/javascript')
      return response.end(SCRIPT)
    }
    if (pathname === '/field') {
      response.setHeader('content-type', 'text/html')
      return response.end(FIELD)
    }
    if (pathname === '/key') keys.push(search.slice(1))
    if (pathname === '/part') {
      const { token, name, value } = JSON.parse(await text(request))
      cards.set(token, { ...cards.get(token), [name]: value })
    }
    response.end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url: `${origin}/token/Collect.js`,
    origin,
    cards,
    keys,
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}
