# Not built yet: no Mac was at hand, and Homebrew could not be reached. `ruby -c` passes. OWNER and the SHA-256 are filled in with the first release.
class Headwave < Formula
  desc "Shows why attention heads of transformers look where they look"
  homepage "https://github.com/OWNER/headwave"
  url "https://github.com/OWNER/headwave/archive/refs/tags/v0.1.0.tar.gz"
  sha256 "0000000000000000000000000000000000000000000000000000000000000000"
  license all_of: ["MIT", "GPL-2.0-or-later"] # GPL: FFTW

  depends_on "boost" => :build
  depends_on "cli11" => :build
  depends_on "cmake" => :build
  depends_on "eigen" => :build
  depends_on "help2man" => :build
  depends_on "ninja" => :build
  depends_on "nlohmann-json" => :build
  depends_on "pkgconf" => :build
  depends_on "fftw"
  depends_on "fmt"
  depends_on "gnuplot"
  depends_on "hdf5"
  depends_on "icu4c"
  depends_on "oniguruma"
  depends_on "openssl@3"
  depends_on "tomlplusplus"

  uses_from_macos "zlib"

  def install
    system "cmake", "-S", ".", "-B", "build/brew", "-G", "Ninja", *std_cmake_args,
           "-DHEADWAVE_ARCH=", "-DHEADWAVE_TESTS=OFF", "-DICU_ROOT=#{Formula["icu4c"].opt_prefix}"
    system "cmake", "--build", "build/brew"
    system "cmake", "--install", "build/brew"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/headwave --version")
    system bin/"headwave", "demo", "--documents", "10", "--out", testpath/"demo"
    assert_path_exists testpath/"demo/results.h5"
  end
end
