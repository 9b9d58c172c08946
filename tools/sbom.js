// Writes sbom.json: every package that runs, as package-lock.json names it, in the form of CycloneDX. npm is asked for all of
// them, since with --omit=dev it leaves out what a package of the developers wants too.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

/** @typedef {{ readonly name: string, readonly version: string, readonly 'bom-ref': string }} Component */
/**
 * @typedef {{
 *   readonly metadata: { readonly component: Component },
 *   readonly components: readonly Component[],
 *   readonly dependencies: readonly { readonly ref: string, readonly dependsOn: readonly string[] }[],
 * }} Bom
 */

/** @type {{ name: string }} */
const { name } = read('package.json');
/** @type {{ packages: Readonly<Record<string, { dev?: boolean, version?: string }>> }} */
const { packages } = read('package-lock.json');
const asked = ['sbom', '--package-lock-only', '--sbom-format=cyclonedx', '--sbom-type=application'];
/** @type {Bom} */
const all = JSON.parse(execFileSync('npm', asked, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 }));
const running = new Set(
  Object.entries(packages)
    .filter(([, { dev }]) => dev !== true)
    .map(([path, { version }]) => `${path.split('node_modules/').at(-1)}@${version}`),
);
const components = all.components.filter(component => running.has(`${component.name}@${component.version}`));
const kept = new Set(components.map(component => component['bom-ref']));
const own = all.metadata.component['bom-ref'];
const dependencies = all.dependencies
  .filter(({ ref }) => ref === own || kept.has(ref))
  .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter(each => kept.has(each)) }));
const metadata = { ...all.metadata, component: { ...all.metadata.component, name } };
writeFileSync(
  new URL('../sbom.json', import.meta.url),
  `${JSON.stringify({ ...all, metadata, components, dependencies }, null, 2)}\n`,
);

/** @param {string} file */
function read(file) {
  return JSON.parse(readFileSync(new URL(`../${file}`, import.meta.url), 'utf8'));
}
