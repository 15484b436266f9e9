package io.carillon.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What only root meets; an ordinary user runs PostgreSQL directly, as all other tests then do. */
class RunAsTest {
    private static final int NOBODY = 65534;
    private static final RunAs AS_NOBODY = RunAs.other(NOBODY, NOBODY);

    @TempDir
    Path directory;

    @BeforeEach
    void only_for_root() {
        assumeTrue(RunAs.currentUser() == 0, "not root");
        assumeTrue(AS_NOBODY.canEnter(Path.of("/")), "no setpriv");
    }

    @Test
    void another_user_runs_the_server_and_owns_its_data() throws Exception {
        Trees.permit(directory, "rwxr-xr-x");
        Path data = directory.resolve("data");
        try (EmbeddedPostgres postgres =
                EmbeddedPostgres.in(data).runAs(AS_NOBODY).start()) {
            Sql.keepARow(postgres, "kept");
            assertThat(Trees.owner(Path.of("/proc/" + postgres.pid()))).isEqualTo(NOBODY);
            assertThat(Trees.owner(data)).isEqualTo(NOBODY);
            postgres.kill();
            postgres.restartImmediately();
        }
        assertThat(RunAs.choose(data)).as("its owner keeps it").isEqualTo(AS_NOBODY);
        try (EmbeddedPostgres postgres = EmbeddedPostgres.in(data).start()) {
            assertThat(Sql.keptRows(postgres)).isEqualTo("kept");
        }
    }

    @Test
    void a_temporary_server_of_another_user_leaves_nothing() throws Exception {
        Path data;
        try (EmbeddedPostgres postgres =
                EmbeddedPostgres.temporary().runAs(AS_NOBODY).start()) {
            data = postgres.dataDirectory();
            assertThat(Trees.owner(data)).isEqualTo(NOBODY);
        }
        assertThat(data.getParent()).doesNotExist();
    }

    @Test
    void a_directory_that_the_other_user_cannot_enter_is_named() throws Exception {
        Path locked = Files.createDirectory(directory.resolve("locked"));
        Trees.permit(locked, "rwx------");

        assertThatThrownBy(() -> EmbeddedPostgres.in(locked.resolve("data"))
                        .runAs(AS_NOBODY)
                        .start())
                .isInstanceOf(EmbeddedPostgresException.class)
                .hasMessageContaining("as user 65534 here, who cannot enter " + locked.toRealPath());
    }
}
