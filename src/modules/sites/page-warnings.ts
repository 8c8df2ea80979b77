import { MENU_PROPS, MENU_TARGETS, PAGE_PROPS, PAGES_MAX } from '../../../manifest/page-props.ts'
import { countShownSections } from '../../../manifest/page-weight.ts'
import { type Fault, listFaults } from '../../../manifest/read-props.ts'

/** The faults of the content pages and menus of a manifest. Both are additions to the contract. */

type JsonObject = Record<string, unknown>

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const FAULTS_MAX = 10

/**
 * The faults of the content pages. A page has either a text or sections, and its sections are checked as those of the
 * home page are.
 */
export interface PageFaults {
  faults: Fault[]
  /** The sections of all pages, each with its path. */
  sections: { section: unknown; path: string }[]
}

export function listPageFaults(pages: unknown): PageFaults {
  if (pages === undefined) return { faults: [], sections: [] }
  if (!Array.isArray(pages)) return { faults: [fault('/pages', 'must be a list')], sections: [] }
  const tooMany = pages.length > PAGES_MAX
  const faults = tooMany ? [fault('/pages', `must have at most ${PAGES_MAX} entries`)] : []
  const slugs = new Set<unknown>()
  const found: PageFaults = { faults, sections: [] }
  for (const [index, page] of pages.slice(0, PAGES_MAX).entries()) {
    const path = `/pages/${index}`
    if (!isObject(page)) {
      faults.push(fault(path, 'must be an object'))
      continue
    }
    if (slugs.has(page.slug)) faults.push(fault(`${path}/slug`, 'is the slug of another page'))
    slugs.add(page.slug)
    addPage(found, page, path)
  }
  return found
}

const fault = (path: string, message: string): Fault => ({ path, message })

function addPage(found: PageFaults, page: JsonObject, path: string): void {
  const { sections, ...props } = page
  const own = listFaults(PAGE_PROPS, props, FAULTS_MAX)
  found.faults.push(...own.map((each) => fault(path + each.path, each.message)))
  if (Array.isArray(sections)) {
    const body = typeof page.body_markdown === 'string' ? page.body_markdown : null
    const heavy = listWeightFaults(sections, body)
    found.faults.push(...heavy.map((each) => fault(`${path}/sections${each.path}`, each.message)))
    for (const [at, section] of sections.entries()) {
      found.sections.push({ section, path: `${path}/sections/${at}` })
    }
  } else if (sections !== undefined) found.faults.push(fault(`${path}/sections`, 'must be a list'))
  else if (page.body_markdown === undefined) {
    found.faults.push(fault(path, 'has neither body_markdown nor sections: it would be empty'))
  }
}

/** Tells which sections a page does not show, because its texts are too heavy: see manifest/markdown-weight.ts. */
export function listWeightFaults(sections: readonly unknown[], above: string | null): Fault[] {
  const shown = countShownSections(sections, above)
  if (shown === sections.length) return []
  const message =
    'is not shown, nor are the sections after it: the texts of the page have too many marks, lines and cells of tables'
  return [fault(`/${shown}`, message)]
}

export function listMenuFaults(menus: unknown, pages: unknown): Fault[] {
  if (menus === undefined) return []
  if (!isObject(menus)) return [fault('/menus', 'must be an object')]
  const form = listFaults(MENU_PROPS, menus, FAULTS_MAX)
  const faults = form.map(({ path, message }) => fault(`/menus${path}`, message))
  const slugs = new Set(Array.isArray(pages) ? pages.map((each) => Object(each).slug) : [])
  for (const name of Object.keys(MENU_PROPS)) {
    const items = Array.isArray(menus[name]) ? menus[name] : []
    for (const [index, item] of items.entries()) {
      const message = isObject(item) ? targetFault(item, slugs) : null
      if (message !== null) faults.push(fault(`/menus/${name}/${index}`, message))
    }
  }
  return faults
}

function targetFault(item: JsonObject, pages: ReadonlySet<unknown>): string | null {
  const named = MENU_TARGETS.filter((each) => item[each] !== undefined)
  if (named.length !== 1) return `must have one of ${MENU_TARGETS.join(', ')}`
  if (item.page === undefined || pages.has(item.page)) return null
  return 'leads to a page that the manifest does not have'
}
