package io.carillon.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Cases that occur only for root. Other users run PostgreSQL directly, as in all other tests. */
class RunAsTest {
    private static final int NOBODY = 65534;
    private static final RunAs AS_NOBODY = RunAs.asUser(NOBODY, NOBODY);

    @TempDir
    Path directory;

    @BeforeEach
    void only_for_root() {
        assumeTrue(RunAs.currentUser() == 0, "not root");
        assumeTrue(AS_NOBODY.canEnter(Path.of("/")), "no setpriv");
    }

    @Test
    void another_user_runs_the_server_and_owns_its_data() throws Exception {
        DirectoryTrees.setPermissions(directory, "rwxr-xr-x");
        Path data = directory.resolve("data");
        try (EmbeddedPostgres postgres =
                EmbeddedPostgres.in(data).runAs(AS_NOBODY).start()) {
            Sql.insertRow(postgres, "kept");
            assertThat(DirectoryTrees.owner(Path.of("/proc/" + postgres.pid()))).isEqualTo(NOBODY);
            assertThat(DirectoryTrees.owner(data)).isEqualTo(NOBODY);
            postgres.kill();
            postgres.restartImmediately();
        }
        assertThat(RunAs.choose(data)).as("the owner of the data is kept").isEqualTo(AS_NOBODY);
        try (EmbeddedPostgres postgres = EmbeddedPostgres.in(data).start()) {
            assertThat(Sql.storedRows(postgres)).isEqualTo("kept");
        }
    }

    @Test
    void a_temporary_server_of_another_user_leaves_nothing() throws Exception {
        Path data;
        try (EmbeddedPostgres postgres =
                EmbeddedPostgres.temporary().runAs(AS_NOBODY).start()) {
            data = postgres.dataDirectory();
            assertThat(DirectoryTrees.owner(data)).isEqualTo(NOBODY);
        }
        assertThat(data.getParent()).doesNotExist();
    }

    @Test
    void a_directory_that_the_other_user_cannot_enter_is_named() throws Exception {
        Path locked = Files.createDirectory(directory.resolve("locked"));
        DirectoryTrees.setPermissions(locked, "rwx------");

        assertThatThrownBy(() -> EmbeddedPostgres.in(locked.resolve("data"))
                        .runAs(AS_NOBODY)
                        .start())
                .isInstanceOf(EmbeddedPostgresException.class)
                .hasMessageContaining("as user 65534 here, but that user cannot access " + locked.toRealPath());
    }
}
