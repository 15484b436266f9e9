package io.carillon.server.dashboard;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class DashboardFilesTest {
    private static final int MAX_BYTES = 120 * 1024;
    private static final Pattern IMPORT = Pattern.compile("(?m)^(?:import|export)\\b[^;]*?from ?['\"]([^'\"]+)['\"]");

    private final DashboardFiles files = new DashboardFiles("");

    private static byte[] read(String name) {
        try (InputStream in = DashboardFilesTest.class.getResourceAsStream(name)) {
            assertThat(in).as(name).isNotNull();
            return in.readAllBytes();
        } catch (IOException broken) {
            throw new UncheckedIOException(broken);
        }
    }

    @Test
    void all_files_together_have_at_most_120_kilobytes_compressed() {
        int bytes = files.page().compressed().length
                + files.all().values().stream()
                        .mapToInt(file -> file.compressed().length)
                        .sum();

        assertThat(bytes).isLessThanOrEqualTo(MAX_BYTES);
    }

    @Test
    void the_index_names_all_files() throws IOException, URISyntaxException {
        Path directory =
                Path.of(DashboardFiles.class.getResource("index.html").toURI()).getParent();
        try (Stream<Path> all = Files.list(directory)) {
            Set<String> scripts = all.map(path -> path.getFileName().toString())
                    .filter(name -> name.endsWith(".js") || name.endsWith(".css") || name.endsWith(".svg"))
                    .collect(Collectors.toCollection(TreeSet::new));
            assertThat(files.all().keySet()).isEqualTo(scripts);
        }
    }

    @Test
    void modules_import_files_that_exist_and_nothing_from_another_host() {
        files.all().forEach((name, file) -> {
            String text = new String(file.plain(), StandardCharsets.UTF_8);
            List<String> imports = IMPORT.matcher(text)
                    .results()
                    .map(found -> found.group(1))
                    .filter(from -> name.endsWith(".js") && !name.equals("uplot.js"))
                    .toList();
            assertThat(imports)
                    .as(name)
                    .allMatch(from -> from.startsWith("./")
                            && files.get(from.substring(2)).isPresent());
        });
    }

    @Test
    void vendored_files_have_the_recorded_checksums_and_a_license_beside_them() throws NoSuchAlgorithmException {
        List<String[]> rows = new String(read("vendored.txt"), StandardCharsets.UTF_8)
                .lines()
                .map(line -> line.split(" \\| ", -1))
                .filter(parts -> parts.length == 5)
                .toList();

        assertThat(rows).hasSize(5);
        for (String[] row : rows) {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(read(row[0]));
            assertThat(HexFormat.of().formatHex(digest)).as(row[0]).isEqualTo(row[4]);
            assertThat(read(row[1].split(" ", -1)[0] + ".LICENSE.txt")).isNotEmpty();
        }
    }
}
