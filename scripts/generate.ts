import { GENERATORS, run } from './check.ts'

/** Writes every generated file and page again, one after the other: `npm run generate`. */
for (const command of [...GENERATORS, [process.execPath, 'scripts/decisions.ts'] as const]) {
  const { code, output } = await run(command)
  const [, script] = command
  process.stdout.write(`${code === 0 ? 'ok  ' : 'FAIL'} ${script}\n${code === 0 ? '' : output}`)
  if (code !== 0) process.exitCode = 1
}
