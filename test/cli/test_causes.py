# SPDX-License-Identifier: BSD-3-Clause
"""Why no rank loaded the library: the true cause is named, once for the job, with what to do."""
import json
import os
import shutil
import stat
import subprocess

import harness

LAUNCHER = "#!/bin/sh\nexit 0\n"


class CausesTest(harness.CliTest):
    def setUp(self):
        super().setUp()
        self.library = self.path("lib", "libfathom.so")
        os.makedirs(self.path("lib"))
        open(self.library, "w", encoding="utf-8").close()
        self.write_program("mpirun", LAUNCHER)

    def write_program(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(self.path(name), stat.S_IRWXU)
        return "./" + name

    def compile(self, name, *options, source="int main(void) { return 0; }", compiler="gcc"):
        done = subprocess.run([compiler, "-x", "c", "-o", name, "-", "-xnone", *options], input=source, cwd=self.folder, text=True,
                              capture_output=True, check=False)
        if done.returncode != 0:
            self.skipTest(f"{compiler} {' '.join(options)} does not work here")
        return "./" + name

    def said(self, *rank_command, launcher=("./mpirun", "-n", "4")):
        """What fathom run says of a job that nobody reported from, less the line at its start."""
        result = self.fathom("run", "-o", "r", "--", *launcher, *rank_command, FATHOM_LIBRARY=self.library)
        self.assertEqual(result.returncode, 0, result.stderr)
        # The loader says of a process that our made-up library is none.
        _, line = [line for line in result.stderr.splitlines() if not line.startswith("ERROR: ld.so")]  # one sentence for the job
        self.assertIn("no rank ever reported in", line)
        self.assertFalse(os.path.exists(self.path("r")))
        return line


class OnTheWay(CausesTest):
    def test_script_that_takes_it_away(self):
        app = self.compile("app")
        for number, line in enumerate((f"exec env -u LD_PRELOAD {app} \"$@\"", f"unset LD_PRELOAD\n{app}", f"env --unset=LD_PRELOAD {app}",
                                       f"export LD_PRELOAD=/other.so\n{app}")):
            script = self.write_program(f"wrapper{number}", "#!/bin/bash\nset -e\n" + line + "\n")
            said = self.said(script, "input")
            self.assertIn(f"in the script ./wrapper{number} ", said)
            self.assertIn("LD_PRELOAD", said)

    def test_script_that_keeps_it(self):
        script = self.write_program("wrapper", "#!/bin/bash\n# unset LD_PRELOAD\nexport LD_PRELOAD=/a.so:$LD_PRELOAD\nexec ./app\n")
        self.assertNotIn("in the script", self.said(script))

    def test_env_i(self):
        self.assertIn(f"write env -i LD_PRELOAD={self.library} FATHOM_OUTPUT={self.path('r')}", self.said("env", "-i", "./app"))
        self.assertNotIn("clears", self.said("env", "-i", "LD_PRELOAD=x", "./app"))

    def test_containers(self):
        for word, how in (("apptainer", "--env LD_PRELOAD="), ("singularity", "--env LD_PRELOAD="), ("docker", "-e LD_PRELOAD="),
                          ("podman", "-e LD_PRELOAD="), ("ch-run", "--set-env=LD_PRELOAD="), ("sudo", "env LD_PRELOAD=")):
            said = self.said(word, "exec", "image.sif", "/opt/solver")
            self.assertIn(f"'{word}' ", said)
            self.assertIn(how + self.library, said)
            self.assertIn("FATHOM_OUTPUT=" + self.path("r"), said)
        # A container around the launcher is no different.
        self.assertIn("'apptainer' starts a container", self.said(launcher=(self.write_program("apptainer", LAUNCHER),)))

    def test_a_script_that_starts_a_container(self):
        script = self.write_program("solver.sh", "#!/bin/sh\nexec apptainer exec image.sif /opt/solver \"$@\"\n")
        self.assertIn("in the script ./solver.sh 'apptainer' starts a container", self.said(script))


class TheProgram(CausesTest):
    def test_statically_linked(self):
        for options in (["-static"], ["-static-pie"]):
            app = self.compile("app", *options)
            self.assertIn("./app is statically linked", self.said(app))
            self.assertIn("./app is statically linked", self.said(self.write_program("start.sh", f"#!/bin/sh\nexec {app}\n")))

    def test_setuid(self):
        app = self.compile("app")
        os.chmod(self.path("app"), stat.S_IRWXU | stat.S_ISUID)
        self.assertIn("./app is setuid", self.said(app))

    def test_another_mpi(self):
        if shutil.which("mpicc.mpich") is None:
            self.skipTest("MPICH is not installed")
        app = self.compile("app", compiler="mpicc.mpich", source="#include <mpi.h>\nint main(void) { return MPI_Init(0, 0); }")
        said = self.said(app)
        self.assertIn("./app is linked with MPICH (libmpich.so.12)", said)
        self.assertIn("Open MPI's mpicc", said)

    def test_mpi_that_a_soname_names(self):
        self.compile("libmpi_abi.so.0", "-shared", "-fPIC", "-Wl,-soname,libmpi_abi.so.0", source="int MPI_Init(int* a, char*** b) { return 0; }")
        app = self.compile("app", "./libmpi_abi.so.0", source="int MPI_Init(); int main(void) { return MPI_Init(); }")
        said = self.said(app)
        self.assertIn("./app is linked with a library of the standard MPI ABI (libmpi_abi.so.0)", said)
        self.assertIn("run it on Open MPI 6's library of that name", said)

    def test_nothing_is_made_up(self):
        said = self.said(self.compile("app"))
        self.assertNotIn("./app", said)
        self.assertIn("'ldd' on the program", said)

    def test_a_job_that_was_profiled_is_left_alone(self):
        self.write_program("mpirun", "#!/bin/sh\nfor word; do case $word in FATHOM_OUTPUT=*) echo '" + json.dumps(
            {"schema": "fathom-profile/1"}) + "' > ${word#*=}/profile.json;; esac; done\n")
        result = self.fathom("run", "-o", "r", "--", "./mpirun", "docker", "run", "image", FATHOM_LIBRARY=self.library)
        self.assertNotIn("docker", result.stderr)


if __name__ == "__main__":
    harness.main()
