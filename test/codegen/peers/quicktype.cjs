// Runs quicktype's command line over many schemas in one process:
//
//	node quicktype.cjs DIRECTORY
//
// Each DIRECTORY/NAME/root.json becomes NAME/root.go, or NAME/error.txt.
const fs = require("node:fs");
const path = require("node:path");

// Nothing is fetched: outcomes must not depend on a network.
const refuse = () => {
    throw new Error("nothing is fetched");
};
globalThis.fetch = refuse;
for (const m of [require("node:http"), require("node:https")]) {
    m.request = refuse;
    m.get = refuse;
}

const { main } = require("quicktype");

(async () => {
    const dir = process.argv[2];
    for (const name of fs.readdirSync(dir).sort()) {
        const at = path.join(dir, name);
        const out = path.join(at, "root.go");
        try {
            await main(["--quiet", "-s", "schema", "-l", "go", "--package", name, "--top-level", "Root", "-o", out, path.join(at, "root.json")]);
        } catch (e) {
            fs.writeFileSync(path.join(at, "error.txt"), String(e && e.message ? e.message : e));
        }
    }
})();
