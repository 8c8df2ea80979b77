import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import { html } from '../layout/html.ts'
import { memoize } from '../memo.ts'
import type { Site } from '../site/site.ts'
import { readTheme, type Theme } from '../site/theme.ts'
import type { HttpResponse } from './response.ts'

/**
 * The script, the style sheets and the icons that pages load. A file's path has the hash of its
 * content, so that browsers may keep it for good.
 */
export interface StaticFiles {
  /** The paths for a page of this site, or of no store. */
  pathsFor(site: Site | null): PageFiles
  /** Finds a file by its path. Returns null for a path of no file, or of one that this process has dropped. */
  find(path: string): StaticFile | null
  /**
   * Finds a file for a page that another process or another release has made. A style sheet that this process cannot
   * make is answered with the site's current one, and then `isExact` is false.
   */
  findFor(path: string, site: Site): { file: StaticFile; isExact: boolean } | null
}

/** The paths of the files that one page loads. */
export interface PageFiles {
  script: string
  styleSheet: string
  icon: string
}

export interface StaticFile {
  type: string
  body: Buffer
  encoded(accepted: string | undefined): Promise<{ body: Buffer; encoding: string | null }>
}

const PREFIX = '/_fd/'
const STYLE_SHEET = /^\/_fd\/store\.[\w-]{12}\.css$/

/** Includes files of older versions: a page that is still open may ask for them once more. */
const FILES_MAX = 500

/** The parts of the script. They are modules of each other, and are sent as one file. */
const SCRIPTS = ['card-drivers', 'storefront', 'suggestions', 'drawer']

const STYLES = [
  'base',
  'layout',
  'header',
  'catalog',
  'product',
  'filters',
  'suggestions',
  'sections',
  'checkout',
  'drawer',
]

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8')

/** Puts the parts of the script together: the exports of one part are shared by the following parts. */
const readScript = (): string =>
  SCRIPTS.map((name) => read(`../browser/${name}.js`))
    .join('')
    .replace(/^import [^']*'[^']*'\n/gm, '')
    .replace(/^export /gm, '')

export function openStaticFiles(): StaticFiles {
  const styles = STYLES.map((name) => read(`../style/${name}.css`)).join('')
  const files = new Map<string, StaticFile>()

  function add(name: string, extension: string, type: string, text: string): string {
    const body = Buffer.from(text)
    const hash = createHash('sha256').update(body).digest('base64url').slice(0, 12)
    const path = `${PREFIX}${name}.${hash}.${extension}`
    files.delete(path)
    files.set(path, createStaticFile(type, body))
    for (const [oldest] of files) {
      if (files.size <= FILES_MAX) break
      if (oldest !== script) files.delete(oldest)
    }
    return path
  }

  const script: string = add('shop', 'js', 'text/javascript; charset=utf-8', readScript())
  const make = (theme: Theme, name: string): PageFiles => ({
    script,
    styleSheet: add('store', 'css', 'text/css; charset=utf-8', styles + theme.css),
    icon: add('icon', 'svg', 'image/svg+xml', iconSvg(theme, name)),
  })
  const defaultTheme = readTheme({})

  const pathsFor: StaticFiles['pathsFor'] = (site) => {
    const theme = site?.theme ?? defaultTheme
    const name = site?.brand.name ?? ''
    const known = memoize(theme, 'files', () => make(theme, name))
    const isThere = files.has(known.styleSheet) && files.has(known.icon)
    return isThere ? known : make(theme, name)
  }
  // Made at the start: the files of a page without a store may be requested when no site is known.
  pathsFor(null)

  return {
    pathsFor,
    find: (path) => files.get(path) ?? null,
    findFor: (path, site) => {
      if (!path.startsWith(PREFIX)) return null
      const { styleSheet } = pathsFor(site)
      const file = files.get(path) ?? (STYLE_SHEET.test(path) ? files.get(styleSheet) : undefined)
      return file === undefined ? null : { file, isExact: files.has(path) }
    },
  }
}

/** The first letter of the store's name on the store's colour. */
const iconSvg = ({ icon }: Theme, name: string): string =>
  html`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><rect width="64" height="64" rx="14" fill="${icon.background}"/><text x="32" y="44" font-family="Georgia, serif" font-size="36" text-anchor="middle" fill="${icon.text}">${[...name][0] ?? ''}</text></svg>`
    .text

const compressors = { br: promisify(brotliCompress), gzip: promisify(gzip) }

/** Compresses a file with the first request that accepts the encoding, and keeps the result. */
function createStaticFile(type: string, body: Buffer): StaticFile {
  const compressed = new Map<string, Promise<Buffer>>()
  return {
    type,
    body,
    async encoded(accepted = '') {
      const encoding = /\bbr\b/.test(accepted) ? 'br' : /\bgzip\b/.test(accepted) ? 'gzip' : null
      if (encoding === null) return { body, encoding }
      let work = compressed.get(encoding)
      if (work === undefined) {
        work = compressors[encoding](body)
        compressed.set(encoding, work)
      }
      return { body: await work, encoding }
    },
  }
}

/** `isExact`: whether the file has the content that its path names, and may be kept for good. */
export async function fileResponse(
  request: IncomingMessage,
  file: StaticFile,
  isExact = true,
): Promise<HttpResponse> {
  const { body, encoding } = await file.encoded(request.headers['accept-encoding'])
  const headers: Record<string, string> = {
    'cache-control': isExact ? 'public, max-age=31536000, immutable' : 'no-store',
    vary: 'accept-encoding',
  }
  if (encoding !== null) headers['content-encoding'] = encoding
  return { status: 200, body, type: file.type, headers }
}
