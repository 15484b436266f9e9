package io.carillon.spi;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.carillon.CarillonException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class KeyringTest {
    private static final byte[] PLAIN = "whsec_hidden".getBytes(UTF_8);
    private static final String OLD = Keyring.newKey("2025");
    private static final String NEW = Keyring.newKey("2026");

    @Test
    void what_is_sealed_opens_in_its_context_only() {
        Keyring keys = Keyring.parse(NEW);
        String sealed = keys.seal(PLAIN, "shop|secret|orders");

        assertThat(keys.open(sealed, "shop|secret|orders")).contains(PLAIN);
        assertThat(keys.open(sealed, "shop|secret|others")).isEmpty();
        assertThat(Keyring.parse(OLD).open(sealed, "shop|secret|orders")).isEmpty();
        assertThat(sealed).startsWith("s1~2026~").doesNotContain("hidden");
    }

    @Test
    void the_same_text_is_never_sealed_twice_alike() {
        Keyring keys = Keyring.parse(NEW);

        assertThat(keys.seal(PLAIN, "c")).isNotEqualTo(keys.seal(PLAIN, "c"));
    }

    @Test
    void any_changed_character_is_detected() {
        Keyring keys = Keyring.parse(NEW);
        String sealed = keys.seal(PLAIN, "c");
        for (int i = 0; i < sealed.length(); i++) {
            char other = sealed.charAt(i) == 'A' ? 'B' : 'A';
            String changed = sealed.substring(0, i) + other + sealed.substring(i + 1);
            // The last character of a part contains bits that belong to no byte, so a change there may have no effect.
            if (!keys.open(changed, "c").isEmpty())
                assertThat(keys.open(changed, "c")).contains(PLAIN);
        }
        assertThat(keys.open(sealed.substring(1), "c")).isEmpty();
        assertThat(keys.open(sealed.substring(0, sealed.length() - 2), "c")).isEmpty();
        assertThat(keys.open("", "c")).isEmpty();
        assertThat(keys.open("s1~2026~~", "c")).isEmpty();
    }

    @Test
    void a_new_key_takes_over_without_touching_the_content() {
        String sealed = Keyring.parse(OLD).seal(PLAIN, "c");
        Keyring both = Keyring.parse(NEW + "\n" + OLD);

        String resealed = both.reseal(sealed, "c").orElseThrow();

        assertThat(both.isCurrent(sealed)).isFalse();
        assertThat(both.isCurrent(resealed)).isTrue();
        assertThat(resealed.substring(resealed.lastIndexOf('~')))
                .as("content unchanged")
                .isEqualTo(sealed.substring(sealed.lastIndexOf('~')));
        assertThat(Keyring.parse(NEW).open(resealed, "c")).contains(PLAIN);
        assertThat(both.reseal(sealed, "other")).isEmpty();
    }

    @Test
    void keys_come_from_a_file_with_comments(@TempDir Path folder) throws Exception {
        Path file = Files.writeString(folder.resolve("keys"), "# ours\n\n" + NEW + "\n" + OLD + "\n");
        restrict(file, "rw-------");

        assertThat(Keyring.fromFile(file)).hasToString("Keyring[2026, 2025]");
        assertThatThrownBy(() -> Keyring.fromFile(folder.resolve("none"))).isInstanceOf(CarillonException.class);
        assertThatThrownBy(() -> Keyring.fromEnvironment("CARILLON_NO_SUCH_VARIABLE"))
                .isInstanceOf(CarillonException.class);
    }

    @Test
    @DisabledOnOs(OS.WINDOWS)
    void a_file_that_other_users_can_access_is_refused(@TempDir Path folder) throws Exception {
        Path file = Files.writeString(folder.resolve("keys"), NEW);
        for (String open : List.of("rw-r-----", "rw----r--", "rw--w----", "rw-----w-")) {
            restrict(file, open);
            assertThatThrownBy(() -> Keyring.fromFile(file))
                    .isInstanceOf(CarillonException.class)
                    .hasMessageContaining("chmod 600 " + file)
                    .hasMessageNotContaining(NEW);
        }
        restrict(file, "r--------");
        assertThat(Keyring.fromFile(file)).isNotNull();
    }

    private static void restrict(Path file, String permissions) throws IOException {
        if (!System.getProperty("os.name").startsWith("Windows"))
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(permissions));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "no colon", "id:", "id:c2hvcnQ=", "id:***", "UPPER:AAAA", ":AAAA"})
    void invalid_keys_are_refused_without_printing_them(String lines) {
        assertThatThrownBy(() -> Keyring.parse(lines))
                .isInstanceOf(CarillonException.class)
                .hasMessageNotContaining("c2hvcnQ");
    }

    @Test
    void two_keys_of_one_id_are_refused() {
        assertThatThrownBy(() -> Keyring.parse(NEW + "\n" + Keyring.newKey("2026")))
                .isInstanceOf(CarillonException.class);
    }

    @Test
    void secrets_are_not_printed() {
        assertThat(Secret.of("hidden")).hasToString("Secret[hidden]").isEqualTo(Secret.of("hidden"));
        assertThat(Secret.of("abc").toString()).doesNotContain("abc");
    }
}
