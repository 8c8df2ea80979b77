import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import { html } from './html.ts'
import { type Look, readLook } from './look.ts'
import type { Site } from './site.ts'
import { remember } from './visit.ts'

/** The three files that pages ask for. Their names change with their content, so they keep for ever. */
export interface Files {
  of(site: Site | null): { script: string; sheet: string; icon: string }
  /** Null for a name that is not, or is no longer, one of ours. */
  find(path: string): StaticFile | null
  /**
   * The same for a page that another process has made, or another release. A style sheet that nobody
   * has any more is answered with the one of now, which is not the one that was asked for.
   */
  findFor(path: string, site: Site): { file: StaticFile; isAsked: boolean } | null
}

export interface StaticFile {
  type: string
  body: Buffer
  encoded(accepted: string | undefined): Promise<{ body: Buffer; encoding: string | null }>
}

const PREFIX = '/_fd/'
const SHEET = /^\/_fd\/store\.[\w-]{12}\.css$/

/** Of old versions and other stores: a page that is still open may ask for them once more. */
const KEPT_MAX = 500

const STYLES = ['base', 'parts', 'shop', 'till']

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8')

export function openFiles(): Files {
  const styles = STYLES.map((name) => read(`./style/${name}.css`)).join('')
  const kept = new Map<string, StaticFile>()

  function keep(name: string, extension: string, type: string, text: string): string {
    const body = Buffer.from(text)
    const hash = createHash('sha256').update(body).digest('base64url').slice(0, 12)
    const path = `${PREFIX}${name}.${hash}.${extension}`
    kept.delete(path)
    kept.set(path, staticFile(type, body))
    for (const [oldest] of kept) {
      if (kept.size <= KEPT_MAX) break
      if (oldest !== script) kept.delete(oldest)
    }
    return path
  }

  const script: string = keep(
    'shop',
    'js',
    'text/javascript; charset=utf-8',
    read('./browser/shop.js'),
  )
  const make = (look: Look, name: string) => ({
    script,
    sheet: keep('store', 'css', 'text/css; charset=utf-8', styles + look.css),
    icon: keep('icon', 'svg', 'image/svg+xml', iconOf(look, name)),
  })
  const plain = { look: readLook({}) }
  const paths = (look: Look, name: string) => remember(look, 'files', () => make(look, name))

  const of: Files['of'] = (site) => {
    const found = paths(site?.look ?? plain.look, site?.brand.name ?? '')
    if (kept.has(found.sheet) && kept.has(found.icon)) return found
    return make(site?.look ?? plain.look, site?.brand.name ?? '')
  }
  // Those of no store are asked for where there is none to make them from.
  of(null)

  return {
    of,
    find: (path) => kept.get(path) ?? null,
    findFor: (path, site) => {
      if (!path.startsWith(PREFIX)) return null
      const { sheet } = of(site)
      const file = kept.get(path) ?? (SHEET.test(path) ? kept.get(sheet) : undefined)
      return file === undefined ? null : { file, isAsked: kept.has(path) }
    },
  }
}

const iconOf = ({ icon }: Look, name: string): string =>
  html`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><rect width="64" height="64" rx="14" fill="${icon.ground}"/><text x="32" y="44" font-family="Georgia, serif" font-size="36" text-anchor="middle" fill="${icon.ink}">${[...name][0] ?? ''}</text></svg>`
    .text

const compressors = { br: promisify(brotliCompress), gzip: promisify(gzip) }

function staticFile(type: string, body: Buffer): StaticFile {
  const made = new Map<string, Promise<Buffer>>()
  return {
    type,
    body,
    async encoded(accepted = '') {
      const encoding = /\bbr\b/.test(accepted) ? 'br' : /\bgzip\b/.test(accepted) ? 'gzip' : null
      if (encoding === null) return { body, encoding }
      let making = made.get(encoding)
      if (making === undefined) {
        making = compressors[encoding](body)
        made.set(encoding, making)
      }
      return { body: await making, encoding }
    },
  }
}
