import { request } from 'undici'

/** A shopper without JavaScript: keeps cookies, fills in forms, and reads the pages. */
export interface Shopper {
  get(path: string, headers?: Record<string, string>): Promise<Seen>
  post(path: string, form: Record<string, string>, headers?: Record<string, string>): Promise<Seen>
  /** Posts a form, and follows the redirect. */
  follow(path: string, form: Record<string, string>): Promise<Seen>
  cookies: Map<string, string>
}

export interface Seen {
  status: number
  headers: Record<string, string | string[] | undefined>
  text: string
  /** The value of a field. */
  field(name: string): string
}

/** The host is sent as a header, since not every machine resolves names under localhost. */
export function openShopper(url: string, host: string): Shopper {
  const cookies = new Map<string, string>()
  const { port } = new URL(url)

  async function send(method: 'GET' | 'POST', path: string, body: string | null, more: object) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const form = body === null ? {} : { 'content-type': 'application/x-www-form-urlencoded' }
    const answer = await request(url + path, {
      method,
      body,
      headers: { host: `${host}:${port}`, ...form, ...(cookie === '' ? {} : { cookie }), ...more },
    })
    for (const each of [answer.headers['set-cookie'] ?? []].flat()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(each) ?? []
      if (value === '') cookies.delete(name)
      else cookies.set(name, value)
    }
    return seen(answer.statusCode, answer.headers, await answer.body.text())
  }

  const get: Shopper['get'] = (path, headers = {}) => send('GET', path, null, headers)
  const post: Shopper['post'] = (path, form, headers = {}) =>
    send('POST', path, new URLSearchParams(form).toString(), headers)
  return {
    cookies,
    get,
    post,
    async follow(path, form) {
      const answer = await post(path, form)
      const { location } = answer.headers
      return typeof location === 'string' ? get(location) : answer
    },
  }
}

const seen = (status: number, headers: Seen['headers'], text: string): Seen => ({
  status,
  headers,
  text,
  field(name) {
    const found = new RegExp(`name="${name}"(?: type="\\w+")? value="([^"]*)"`).exec(text)?.[1]
    if (found === undefined) throw new Error(`there is no field ${name}`)
    return found
  },
})
