package io.carillon.testkit.internal.server;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ds.PGSimpleDataSource;

class ServerAddressTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "jdbc:postgresql://db.example:6543/postgres?user=ann&password=p%40ss&connectTimeout=7",
                "postgres://ann:p%40ss@db.example:6543/postgres?connectTimeout=7",
                "postgresql://ann:p%40ss@db.example:6543/postgres?connectTimeout=7"
            })
    void reads_both_forms_and_points_at_any_database(String url) {
        PGSimpleDataSource pointed = ServerAddress.parse(url).configure(new PGSimpleDataSource(), "other");

        assertThat(pointed.getServerNames()).containsExactly("db.example");
        assertThat(pointed.getPortNumbers()).containsExactly(6543);
        assertThat(pointed.getDatabaseName()).isEqualTo("other");
        assertThat(pointed.getUser()).isEqualTo("ann");
        assertThat(pointed.getPassword()).isEqualTo("p@ss");
        assertThat(pointed.getConnectTimeout()).isEqualTo(7);
    }

    @Test
    void shows_no_password() {
        assertThat(ServerAddress.parse("postgres://ann:secret@db.example/postgres"))
                .asString()
                .contains("ann", "db.example:5432")
                .doesNotContain("secret");
        assertThat(ServerAddress.parse("jdbc:postgresql://db.example/postgres?user=ann&password=secret"))
                .asString()
                .doesNotContain("secret");
    }
}
