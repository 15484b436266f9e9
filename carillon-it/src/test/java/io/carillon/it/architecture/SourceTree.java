package io.carillon.it.architecture;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.toList;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/** The files of a checkout: its modules with their main and test sources, read from disk. */
public record SourceTree(Path root) {

    /** Returns the checkout that contains the working directory. */
    public static SourceTree here() {
        Path start = Path.of("").toAbsolutePath();
        for (Path directory = start; directory != null; directory = directory.getParent()) {
            if (Files.isDirectory(directory.resolve(".mvn"))) {
                return new SourceTree(directory);
            }
        }
        throw new IllegalStateException(
                "No directory with .mvn at or above " + start + ". Run the tests inside a checkout.");
    }

    public List<Path> modules() {
        try (Stream<Path> children = Files.list(root)) {
            return children.filter(child -> Files.exists(child.resolve("pom.xml")))
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot list " + root, e);
        }
    }

    public List<Path> mainJava() {
        return modules().stream()
                .flatMap(module -> files(module.resolve("src/main/java"), ".java").stream())
                .toList();
    }

    public List<Path> testJava() {
        return modules().stream()
                .flatMap(module -> files(module.resolve("src/test/java"), ".java").stream())
                .toList();
    }

    /** Returns the directories that contain compiled main classes. */
    public List<Path> mainClasses() {
        return modules().stream()
                .map(module -> module.resolve("target/classes"))
                .filter(Files::isDirectory)
                .toList();
    }

    public Map<Path, List<Path>> byFolder(List<Path> files) {
        return files.stream().collect(groupingBy(Path::getParent, TreeMap::new, toList()));
    }

    /** Returns the path relative to the root, with slashes. */
    public String shown(Path file) {
        return root.relativize(file).toString().replace('\\', '/');
    }

    public static List<Path> files(Path folder, String suffix) {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (Stream<Path> all = Files.walk(folder)) {
            return all.filter(file -> file.getFileName().toString().endsWith(suffix))
                    .filter(Files::isRegularFile)
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot walk " + folder, e);
        }
    }

    public static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot read " + file, e);
        }
    }
}
