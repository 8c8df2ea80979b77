import { countKeptText } from '../kept-bytes.ts'
import { memoize } from '../memo.ts'
import type { Site } from '../site/site.ts'
import type { Html } from './html.ts'

/** Renders a part of a site once, and counts its length: it is kept as long as the site. */
export const keepHtml = <T extends Html | null>(
  site: Site,
  from: object,
  name: string,
  make: () => T,
): T =>
  memoize(from, name, () => {
    const made = make()
    countKeptText(site, made?.text ?? '')
    return made
  })
