package io.carillon.server.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.carillon.Carillon;
import io.carillon.server.CarillonServer;
import io.carillon.testkit.TestDatabase;
import java.io.UncheckedIOException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The key of the first start is stored by the operator, or it is not created; the audit log shows it. */
class BootstrapKeyTest {
    @Test
    void a_first_key_that_cannot_be_stored_is_not_created() {
        try (TestDatabase database = TestDatabase.migrated();
                Carillon carillon = Carillon.on(database.pool(6)).build()) {
            assertThatThrownBy(() -> CarillonServer.on(carillon, database.pool(4))
                            .listen("127.0.0.1", 0)
                            .onBootstrapKey(key -> {
                                throw new UncheckedIOException(new NoSuchFileException("no such directory"));
                            })
                            .start())
                    .hasStackTraceContaining("no such directory");
            assertThat(database.query("SELECT count(*) FROM carillon.api_key").number())
                    .isZero();

            List<String> stored = new ArrayList<>();
            try (CarillonServer server = CarillonServer.on(carillon, database.pool(4))
                    .listen("127.0.0.1", 0)
                    .onBootstrapKey(stored::add)
                    .start()) {
                assertThat(stored).containsExactly(server.bootstrapKey().orElseThrow());
                assertThat(database.query("SELECT object FROM carillon.audit WHERE action = 'key.bootstrap'")
                                .text())
                        .isEqualTo("key/"
                                + PlaintextApiKey.parse(stored.get(0))
                                        .orElseThrow()
                                        .id());
            }
        }
    }
}
