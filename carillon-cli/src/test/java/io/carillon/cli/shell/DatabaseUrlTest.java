package io.carillon.cli.shell;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DatabaseUrlTest {
    @Test
    void parses_the_url_format_of_hosting_services() {
        DatabaseUrl url = DatabaseUrl.parse("postgres://app:s3cret@db.example.com:6543/shop?sslmode=require");

        assertThat(url.jdbcUrl()).isEqualTo("jdbc:postgresql://db.example.com:6543/shop?sslmode=require");
        assertThat(url.user()).isEqualTo("app");
        assertThat(url.password()).isEqualTo("s3cret");
        assertThat(url.displayText()).isEqualTo("db.example.com:6543/shop");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "postgresql://host/db             | jdbc:postgresql://host/db",
                "postgres:///db                   | jdbc:postgresql://localhost/db",
                "postgres://me@host               | jdbc:postgresql://host/me",
                "postgres://me@host/              | jdbc:postgresql://host/me",
                "postgres://[::1]:5432/db         | jdbc:postgresql://[::1]:5432/db",
                "postgres://a:1,b:2/db            | jdbc:postgresql://a:1,b:2/db",
                "postgres://host/my%20db          | jdbc:postgresql://host/my%20db",
                "postgres://host/db?application_name=x&connect_timeout=3 |"
                        + " jdbc:postgresql://host/db?ApplicationName=x&connectTimeout=3",
            })
    void converts_it_to_a_jdbc_url(String given, String jdbc) {
        assertThat(DatabaseUrl.parse(given).jdbcUrl()).isEqualTo(jdbc);
    }

    @Test
    void decodes_user_and_password_and_leaves_a_plus_alone() {
        DatabaseUrl url = DatabaseUrl.parse("postgres://us%40er:p%2Fw%3A+%25:x@host/db");

        assertThat(url.user()).isEqualTo("us@er");
        assertThat(url.password()).isEqualTo("p/w:+%:x");
    }

    @Test
    void keeps_a_jdbc_url_and_displays_it_without_its_options() {
        DatabaseUrl url = DatabaseUrl.parse(" jdbc:postgresql://host:5432/db?user=me&password=s3cret ");

        assertThat(url.jdbcUrl()).isEqualTo("jdbc:postgresql://host:5432/db?user=me&password=s3cret");
        assertThat(url.user()).isNull();
        assertThat(url.displayText()).isEqualTo("host:5432/db");
        assertThat(url.toString()).doesNotContain("s3cret");
    }

    @Test
    void never_shows_a_password() {
        assertThat(DatabaseUrl.parse("postgres://me:s3cret@host/db").toString()).isEqualTo("DatabaseUrl[host/db]");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "host/db",
                "mysql://me:s3cret@host/db",
                "jdbc:mysql://host/db?password=s3cret",
                "jdbc:postgresql://me:s3cret@host/db",
                "postgres://me:s3cret@%2Fvar%2Frun/db",
                "postgres://me:s3cret@host:port/db",
                "postgres://me:s3cret%zz@host/db",
                "postgres://host",
            })
    void rejects_other_urls_with_an_example_and_without_the_password(String wrong) {
        assertThatThrownBy(() -> DatabaseUrl.parse(wrong))
                .isInstanceOf(UsageException.class)
                .hasMessageContaining("postgres://user:password@host:5432/database")
                .message()
                .doesNotContain("s3cret");
    }
}
