import type { IForbiddenRuleType } from 'dependency-cruiser'
import type { Area, Face } from '../src/modules/face.ts'

/**
 * The one import rule, as data: an import points to the right, never back.
 *
 *   main > compose > modules > http > platform > db > errors > error-codes > kernel     (folders)
 *   module > routes > jobs > money > service > queries > schema > errors > adapters   (files of one module)
 *
 * A module may enter another only if its face names that one, and not by its errors, queries, jobs, routes or face.
 * What a face names stands before it in the list of modules. Files of one level may import each other, without
 * circles. The folder `adapters/` of a module stands below its other files: an adapter knows the port that it serves,
 * and nothing else of its module.
 */

const LAYERS = ['kernel', 'error-codes', 'errors', 'db', 'platform', 'http', 'modules']

/** The levels of a module's files, the lowest first; `refund-money.ts` is on the level of `money.ts`. */
const LEVELS = ['errors', 'schema', 'queries', 'service', 'money', 'jobs', 'routes', 'module']

const any = (names: readonly string[]) => `(${names.join('|')})`

/** The files of a layer: a folder, or for `errors` a file. */
const layer = (name: string) => `^src/${name}(/|\\.ts$)`

const layerRules: IForbiddenRuleType[] = LAYERS.map((name, index) => ({
  name: `${name} imports only what is below it`,
  severity: 'error',
  from: { path: layer(name), pathNot: '^src/modules/house\\.ts$' },
  to: {
    path: '^src/',
    pathNot: LAYERS.slice(0, index + 1).map(layer),
  },
}))

/** A pattern for the end of a path on a level. A file named for no level, as `sites/brand.ts`, is on `service`. */
const level = (name: string) => {
  const others = any(LEVELS.filter((each) => each !== 'service'))
  return name === 'service' ? `(?![a-z0-9/-]*${others}\\.ts$)` : `[a-z0-9/-]*${name}\\.ts$`
}

const levelRules: IForbiddenRuleType[] = LEVELS.map((name, index) => ({
  name: `${name} files import only their level and those below it in their module`,
  severity: 'error',
  from: { path: `^src/modules/([^/]+)/${level(name)}` },
  to: {
    path: '^src/modules/$1/',
    pathNot: [
      ...LEVELS.slice(0, index + 1).map((each) => `^src/modules/$1/${level(each)}`),
      '^src/modules/$1/adapters/',
    ],
  },
}))

const inModules = (names: readonly string[]) => `^src/modules/${any(names)}/`

const faceRule = ({ name, uses }: Face): IForbiddenRuleType => ({
  name: `${name} enters the modules that its face names`,
  severity: 'error',
  from: { path: inModules([name]) },
  to: { path: '^src/modules/[^/]+/', pathNot: inModules([name, ...uses]) },
})

/** The names in faces that are wrong whatever the code imports: of no module, or of one that stands later. */
export function findWrongUses(areas: readonly Area[]): string[] {
  const before = new Set<string>()
  return areas
    .flatMap(({ modules }) => modules)
    .flatMap(({ name, uses }) => {
      const wrong = uses.filter((used) => !before.has(used))
      before.add(name)
      return wrong.map((used) => `${name} uses ${used}, which does not stand before it in the list`)
    })
}

/** The names in faces that no import needs. `entered` has the modules that each module enters. */
export const findIdleUses = (
  areas: readonly Area[],
  entered: ReadonlyMap<string, ReadonlySet<string>>,
): string[] =>
  areas
    .flatMap(({ modules }) => modules)
    .flatMap(({ name, uses }) =>
      uses
        .filter((used) => !entered.get(name)?.has(used))
        .map((used) => `${name} uses ${used}, which it never imports`),
    )

const FORBIDDEN: readonly IForbiddenRuleType[] = [
  ...layerRules,
  ...levelRules,
  {
    name: 'what all faces share knows no module',
    severity: 'error',
    from: { path: '^src/modules/[^/]+\\.ts$', pathNot: '^src/modules/house\\.ts$' },
    to: { path: '^src/modules/[^/]+/' },
  },
  {
    name: 'the house that faces are given is types alone',
    severity: 'error',
    from: { path: '^src/modules/house\\.ts$' },
    to: { dependencyTypesNot: ['type-only'] },
  },
  {
    name: 'an adapter knows nothing else of its module',
    severity: 'error',
    from: { path: '^src/modules/([^/]+)/adapters/' },
    to: { path: '^src/modules/$1/', pathNot: '^src/modules/$1/adapters/' },
  },
  {
    name: 'only routes.ts knows HTTP, and the faces, which name its planes',
    severity: 'error',
    from: {
      path: '^src/modules/',
      pathNot: '[/-]routes\\.ts$|^src/modules/([^/]+/module|face|house)\\.ts$',
    },
    to: { path: ['^src/http/', '^fastify$', 'node_modules/fastify/'] },
  },
  {
    name: 'errors, queries, jobs, routes and the face are for their own module',
    severity: 'error',
    from: { path: '^src/modules/([^/]+)/' },
    to: {
      path: '^src/modules/[^/]+/[a-z-]*(errors|queries|jobs|routes|module)\\.ts$',
      pathNot: '^src/modules/$1/',
    },
  },
  {
    name: 'schema, queries and service files never enter the money of another module',
    severity: 'error',
    from: {
      path: ['schema', 'queries', 'service'].map((each) => `^src/modules/([^/]+)/${level(each)}`),
    },
    to: { path: `^src/modules/[^/]+/${level('money')}`, pathNot: '^src/modules/$1/' },
  },
  {
    name: 'the storefront knows the platform by HTTP alone',
    severity: 'error',
    from: { path: '^storefront/' },
    to: { path: '^(src|test|bench|scripts)/' },
  },
  {
    name: 'the storefront is entered by one door',
    severity: 'error',
    from: { path: '^src/', pathNot: '^src/storefront\\.ts$' },
    to: { path: '^storefront/' },
  },
  {
    name: 'the description of manifests imports nothing of ours',
    severity: 'error',
    from: { path: '^manifest/' },
    to: { path: '^(src|storefront|test|bench|scripts)/' },
  },
  {
    name: 'a package imports nothing of ours but itself',
    severity: 'error',
    from: { path: '^packages/([^/]+)/src/' },
    to: {
      path: '^(packages|src|storefront|manifest|test|bench|scripts)/',
      pathNot: '^packages/$1/src/',
    },
  },
  {
    name: 'the platform prices shipping in one file',
    severity: 'error',
    from: { path: '^src/', pathNot: '^src/modules/shipping/resolve\\.ts$' },
    to: { path: '^manifest/shipping\\.ts$' },
  },
  {
    name: 'the process loads what serves only to serve',
    severity: 'error',
    from: { path: '^src/main\\.ts$' },
    to: {
      path: '^src/((demo|runtime|serve)\\.ts$|compose/|modules/)',
      dynamic: false,
      dependencyTypesNot: ['type-only'],
    },
  },
  { name: 'no circles', severity: 'error', from: {}, to: { circular: true } },
  {
    name: 'nothing imports a test',
    severity: 'error',
    from: { path: '^src/' },
    to: { path: '^(test|bench|scripts)/' },
  },
  {
    name: 'every import is found',
    severity: 'error',
    from: {},
    to: { couldNotResolve: true },
  },
  {
    name: 'src runs on dependencies alone',
    severity: 'error',
    from: { path: '^src/' },
    to: {
      dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'],
      dependencyTypesNot: ['type-only'],
    },
  },
]

/** The rules for a tree with these modules. */
export function importRules(areas: readonly Area[]): IForbiddenRuleType[] {
  const faces = areas.flatMap(({ modules }) => modules)
  return [
    ...FORBIDDEN,
    ...faces.map(faceRule),
    {
      name: 'a module stands in the list of compose/modules.ts',
      severity: 'error',
      from: { path: '^src/modules/[^/]+/', pathNot: inModules(faces.map(({ name }) => name)) },
      to: {},
    },
  ]
}
