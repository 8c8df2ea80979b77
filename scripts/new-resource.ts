import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export interface Wanted {
  /** One of the rows, in kebab-case: `size-chart`. */
  name: string
  /** The module that gets it. Without one it gets a module of its own, in this area. */
  module?: string | undefined
  area?: string | undefined
}

/** The spellings of the name, as the templates in `scripts/resource/` ask for them. */
type Spellings = Readonly<Record<string, string>>

const KEBAB = /^[a-z]+(-[a-z]+)*$/

const plural = (word: string) =>
  /[^aeiou]y$/.test(word)
    ? `${word.slice(0, -1)}ies`
    : /(s|x|ch|sh)$/.test(word)
      ? `${word}es`
      : `${word}s`
const snake = (kebab: string) => kebab.replaceAll('-', '_')
const phrase = (kebab: string) => kebab.replaceAll('-', ' ')
const camel = (kebab: string) =>
  kebab.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase())
const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

/** Writes the files of a plain list and its entries in the lists by hand. Returns the paths of all. */
export function writeResource(root: string, wanted: Wanted): string[] {
  const { name } = wanted
  if (!KEBAB.test(name)) throw new Error(`${name} is no name in kebab-case, such as size-chart`)
  const many = plural(name)
  const folder = wanted.module ?? many
  const isNew = wanted.module === undefined
  if (isNew === existsSync(join(root, 'src/modules', folder))) {
    throw new Error(`src/modules/${folder} ${isNew ? 'is there already' : 'is missing'}`)
  }
  const prefix = isNew ? '' : `${name}-`
  const service = isNew ? 'service' : many
  const spelled = spell({ name, many, folder, prefix, service, isNew })
  const source = `src/modules/${folder}`
  const tests = `test/modules/${folder}`
  const files: [template: string, path: string][] = [
    ['migration.sql', `migrations/${nextNumber(root)}_${snake(many)}.sql`],
    ['schema.ts', `${source}/${prefix}schema.ts`],
    ['queries.ts', `${source}/${prefix}queries.ts`],
    ['service.ts', `${source}/${service}.ts`],
    ['routes.ts', `${source}/${prefix}routes.ts`],
    ['resources.ts', `${tests}/${prefix}resources.ts`],
    ['test.ts', `${tests}/${many}.test.ts`],
  ]
  if (isNew) files.push(['module.ts', `${source}/module.ts`])
  const ownsErrors = existsSync(join(root, source, 'errors.ts'))
  if (!ownsErrors) files.push(['errors.ts', `${source}/errors.ts`])
  for (const [template, path] of files) create(join(root, path), fill(template, spelled))
  const edited = isNew
    ? [addModule(root, { folder, area: wanted.area ?? '' })]
    : addToModule(root, { source, spelled, ownsErrors })
  return [...files.map(([, path]) => path), ...edited]
}

interface Parts {
  name: string
  many: string
  folder: string
  prefix: string
  service: string
  isNew: boolean
}

const spell = ({ name, many, folder, prefix, service, isNew }: Parts): Spellings => ({
  name: camel(name),
  names: camel(many),
  Name: capital(camel(name)),
  Names: capital(camel(many)),
  snake: snake(name),
  table: snake(many),
  phrase: phrase(name),
  aPhrase: `${/^[aeiou]/.test(name) ? 'an' : 'a'} ${phrase(name)}`,
  phrases: phrase(many),
  Phrase: capital(phrase(name)),
  Phrases: capital(phrase(many)),
  folder,
  module: camel(folder),
  file: prefix,
  service,
  scope: 'write:own_store',
  url: `/v1/merchant/${isNew ? many : `${folder}/${many}`}`,
})

const nextNumber = (root: string): string => {
  const last =
    globSync('*.sql', { cwd: join(root, 'migrations') })
      .toSorted()
      .at(-1) ?? '0000'
  return String(Number(last.slice(0, 4)) + 1).padStart(4, '0')
}

const fill = (template: string, spelled: Spellings): string =>
  readFileSync(new URL(`./resource/${template}.txt`, import.meta.url), 'utf8').replaceAll(
    /\{\{(\w+)\}\}/g,
    (_, key: string) => {
      const spelling = spelled[key]
      if (spelling === undefined) throw new Error(`${template} asks for ${key}`)
      return spelling
    },
  )

function create(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text, { flag: 'wx' })
}

/** Replaces a part of a file that must be there once. */
function edit(path: string, changes: readonly (readonly [part: string, by: string])[]): void {
  let text = readFileSync(path, 'utf8')
  for (const [part, by] of changes) {
    if (text.split(part).length !== 2) throw new Error(`${path} has not exactly one ${part}`)
    text = text.replace(part, () => by)
  }
  writeFileSync(path, text)
}

/** Adds a new module to its area, above the others of it. */
function addModule(root: string, { folder, area }: { folder: string; area: string }): string {
  const path = 'src/compose/modules.ts'
  const text = readFileSync(join(root, path), 'utf8')
  const list = new RegExp(`name: '${area}',[^\\]]*modules: \\[([^\\]]*)\\]`).exec(text)
  if (list === null) throw new Error(`no area is called ${area}`)
  const [whole, modules = ''] = list
  const grown = whole.replace(
    `[${modules}]`,
    `[${modules.trim().replace(/,$/, '')}, ${camel(folder)}]`,
  )
  const first = "import { affiliates } from '../modules/affiliates/module.ts'"
  edit(join(root, path), [
    [whole, grown],
    [first, `import { ${camel(folder)} } from '../modules/${folder}/module.ts'\n${first}`],
  ])
  return path
}

const FACE_END = '} as const satisfies Face'

interface Grown {
  source: string
  spelled: Spellings
  ownsErrors: boolean
}

/** Adds a table, a limit, a code and routes to the face of a module. */
function addToModule(root: string, { source, spelled, ownsErrors }: Grown): string[] {
  const face = `${source}/module.ts`
  const { table = '', Phrases = '', file = '', snake: one = '', phrase: words = '' } = spelled
  const text = readFileSync(join(root, face), 'utf8')
  const limit = `    ${table}: '${Phrases}, archived ones included.',\n`
  const counted = text.includes('  counted: {\n')
    ? (['  counted: {\n', `  counted: {\n${limit}`] as const)
    : ([FACE_END, `  counted: {\n${limit}  },\n${FACE_END}`] as const)
  const registered = `(await import('./${file}routes.ts')).merchantRoutes`
  const routes = text.includes('merchant: [')
    ? (['merchant: [', `merchant: [${registered}, `] as const)
    : ([FACE_END, `  routes: async () => ({ merchant: [${registered}] }),\n${FACE_END}`] as const)
  edit(join(root, face), [
    ['  tables: {\n', `  tables: {\n    ${table}: forGood(STORE),\n`],
    counted,
    routes,
  ])
  if (!ownsErrors) return [face]
  const errors = `${source}/errors.ts`
  const code = `  ${one}_not_found: [404, 'No such ${words}. Check its id.'],\n`
  edit(join(root, errors), [['export const ERRORS = {\n', `export const ERRORS = {\n${code}`]])
  return [face, errors]
}
