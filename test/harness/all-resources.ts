import { globSync } from 'node:fs'
import { joinNamed } from '../../src/compose/join.ts'
import { MODULES } from '../../src/compose/modules.ts'
import type { Fixture, Resources } from './resources.ts'

const FOLDER = new URL('../modules/', import.meta.url)

/** The resources of all modules, from the ground up, since the rows of one name those of modules below it. */
export const RESOURCES: readonly Resources[] = await loadResources()

async function loadResources(): Promise<Resources[]> {
  const found = globSync('*/{,*-}resources.ts', { cwd: FOLDER }).toSorted()
  const files = MODULES.flatMap(({ name }) => found.filter((file) => file.startsWith(`${name}/`)))
  const lost = found.find((file) => !files.includes(file))
  if (lost !== undefined) throw new Error(`test/modules/${lost} belongs to no module`)
  const loaded = await Promise.all(files.map((file) => import(new URL(file, FOLDER).href)))
  return loaded.map(({ resources }) => resources)
}

export const FIXTURES = joinNamed<Fixture>(RESOURCES.map(({ fixtures }) => fixtures))

export const BODIES = joinNamed<unknown>(RESOURCES.map(({ bodies }) => bodies))
